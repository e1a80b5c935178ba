package model_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/plugintest/modeltest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestBudgetAsksInGrowingBlocks takes questions of 1,000 tokens.
func TestBudgetAsksInGrowingBlocks(t *testing.T) {
	t.Parallel()
	var blocks []int64
	budget := model.NewBudget(&stage.Call{Grant: func(_ context.Context, quota string, units int64, item string) error {
		if quota != "tokens" || item != "" {
			t.Errorf("asked for %q of %q, want tokens of nothing", quota, item)
		}
		blocks = append(blocks, units)
		return nil
	}})
	for range 64 {
		if err := budget.Take(t.Context(), 1600, 500, 1); err != nil { // 400 + 500 + 100
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int64{1000, 2000, 4000, 8000, 16000, 20000, 20000}, blocks); diff != "" {
		t.Errorf("blocks of 64,000 tokens (-want +got):\n%s", diff)
	}
	if err := budget.Take(t.Context(), 4*100_000, 0, 0); err != nil || blocks[len(blocks)-1] < 90_000 {
		t.Errorf("a question of 100,000 tokens: %v, block of %d; want one that is large enough", err, blocks[len(blocks)-1])
	}
}

func TestNothingIsAskedBeyondTheBudget(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		return modeltest.Answer{Text: `{"colour":"blue"}`}
	})
	left := int64(200)
	call := server.Call()
	call.Grant = func(_ context.Context, _ string, units int64, _ string) error {
		if left -= units; left < 0 {
			return stage.Quotaf(time.Time{}, "quota tokens is used up")
		}
		return nil
	}
	_, err := ask(t.Context(), t, call)
	if err != nil {
		t.Fatalf("within the budget: %v", err)
	}
	left = 0
	_, err = ask(t.Context(), t, call)
	var fault *stage.Error
	if !errors.As(err, &fault) || fault.Fault != stage.FaultQuota {
		t.Errorf("beyond the budget: %v, want fault %s", err, stage.FaultQuota)
	}
	if got := len(server.Asked()); got != 1 {
		t.Errorf("the endpoint was asked %d times, want 1", got)
	}
}
