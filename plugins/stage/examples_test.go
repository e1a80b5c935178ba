package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// given hands out records one by one, as the host does.
func given(records ...stage.Record) func() (stage.Record, error) {
	return func() (stage.Record, error) {
		if len(records) == 0 {
			return stage.Record{}, io.EOF
		}
		one := records[0]
		records = records[1:]
		return one, nil
	}
}

// An evidence stage reads one record after the other, and says something about
// those that it knows something about.
func Example_evidence() {
	spec := stage.Spec{
		ID: "stickers", Version: "1.0.0", Kind: stage.EvidenceKind,
		Evidence: func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
			for {
				video, err := next()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				if len(video.Stickers) == 0 {
					continue
				}
				found := stage.Evidence{OnScreenText: &video.Stickers[0].Text}
				if err := emit(stage.Finding{Ref: video.Ref, Evidence: found}); err != nil {
					return err
				}
			}
		},
	}
	videos := given(
		stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Stickers: []stage.Sticker{{Text: "Pour slower"}}},
		stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "2"}},
	)
	err := spec.Evidence(context.Background(), &stage.Call{}, videos, func(f stage.Finding) error {
		fmt.Println(f.ExternalID, *f.Evidence.OnScreenText)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 Pour slower
	// <nil>
}

// A screen gives each record one verdict: a rank, or the rule that drops it.
func Example_screen() {
	screen := func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
		for {
			video, err := next()
			if errors.Is(err, io.EOF) {
				return stage.Summary{}, nil
			}
			if err != nil {
				return stage.Summary{}, err
			}
			verdict := stage.Verdict{Ref: video.Ref}
			if views := video.Metrics.Views; views != nil { // unknown is not zero
				verdict.Rank = float64(*views)
			}
			if err := emit(verdict); err != nil {
				return stage.Summary{}, err
			}
		}
	}
	views := int64(1200)
	_, err := screen(context.Background(), &stage.Call{}, given(
		stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Metrics: stage.Metrics{Views: &views}},
		stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "2"}},
	), func(v stage.Verdict) error {
		fmt.Println(v.ExternalID, v.Rank)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 1200
	// 2 0
	// <nil>
}

// Validate says all that is wrong with a spec; Main refuses to serve such a one.
func ExampleSpec_Validate() {
	spec := stage.Spec{ID: "Acme", Version: "1", Kind: stage.SourceKind, Hosts: []string{"api.acme.example"}}
	fmt.Println(spec.Validate())
	// Output:
	// id "Acme": want ^[a-z][a-z0-9-]{0,39}$
	// host "api.acme.example": want host:port
	// kind "source": does not fit the functions that are set
}

// The client reaches the hosts that the spec names. A test sets the transport.
func ExampleCall_HTTP() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "three videos")
	}))
	defer site.Close()
	call := &stage.Call{Transport: site.Client().Transport}
	response, err := call.HTTP().Get(site.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	fmt.Println(string(text), err)
	// Output: three videos <nil>
}

// What a site allows the operator as a whole is asked for before it is used. Where
// it is used up, the error is fit to be returned as it is.
func ExampleCall_Spend() {
	left := int64(100)
	call := &stage.Call{Grant: func(_ context.Context, quota string, units int64, _ string) error {
		if units > left {
			return stage.Quotaf(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC), "quota %s is used up", quota)
		}
		left -= units
		return nil
	}}
	for range 2 {
		err := call.Spend(context.Background(), "search", 100)
		var fault *stage.Error
		if errors.As(err, &fault) {
			fmt.Println(fault.Fault, fault.RetryAt.Format(time.RFC3339))
		} else {
			fmt.Println(err)
		}
	}
	// Output:
	// <nil>
	// quota 2026-11-22T08:00:00Z
}

// An error keeps its fault however it is wrapped.
func ExampleBusyf() {
	err := fmt.Errorf("page 7: %w", stage.Busyf(time.Minute, "the site answers 503"))
	var fault *stage.Error
	fmt.Println(errors.As(err, &fault), fault.Fault)
	// Output: true busy
}
