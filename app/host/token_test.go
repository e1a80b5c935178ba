package host_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// vault keeps tokens in memory, by plugin, name and the operator's value.
type vault struct {
	mu     sync.Mutex
	kept   map[[3]string]string
	broken error
}

func (v *vault) Load(_ context.Context, plugin, name, first string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if value, ok := v.kept[[3]string{plugin, name, first}]; ok {
		return value, nil
	}
	return first, v.broken
}

func (v *vault) Save(_ context.Context, plugin, name, first, value string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.broken == nil {
		v.kept[[3]string{plugin, name, first}] = value
	}
	return v.broken
}

func withTokens(v *vault, secrets map[string]string) func(*host.Config) {
	return func(c *host.Config) {
		c.Secrets, c.Tokens = map[string]map[string]string{"renewing": secrets}, v
	}
}

func TestARenewedTokenIsGivenToTheNextCall(t *testing.T) {
	t.Parallel()
	v := &vault{kept: map[[3]string]string{}}
	b := setup(t, withTokens(v, map[string]string{"token": "first-token"}))
	for _, c := range []struct{ value, want string }{
		{"second-token", "okfirst-token"}, {"third-token", "oksecond-token"}, {"last-token", "okthird-token"},
	} {
		if got := b.found(t, "renewing", "renew:token,"+c.value); got != c.want {
			t.Errorf("the call that renews by %s: got %q, want %q", c.value, got, c.want)
		}
		if log := b.log.String(); strings.Contains(log, c.value) || !strings.Contains(log, "[token]") {
			t.Errorf("the log has the new token, or not its name:\n%s", log)
		}
	}
	want := map[[3]string]string{{"renewing", "token", "first-token"}: "last-token"}
	if !maps.Equal(v.kept, want) {
		t.Errorf("got %v, want %v", v.kept, want)
	}
}

func TestATokenOfTheOperatorTakesItsPlace(t *testing.T) {
	t.Parallel()
	v := &vault{kept: map[[3]string]string{{"renewing", "token", "first-token"}: "renewed-token"}}
	b := setup(t, withTokens(v, map[string]string{"token": "other-token"}))
	if got := b.found(t, "renewing", "renew:token,newest-token"); got != "okother-token" {
		t.Errorf("got %q, want okother-token", got)
	}
}

func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, term := range map[string]string{
		"a secret that is no token": "renew:fixed,another-value",
		"an unknown name":           "renew:none,another-value",
		"an empty value":            "renew:token,",
		"a value that is too long":  "renew:token," + strings.Repeat("x", 16<<10+1),
	} {
		t.Run(name, func(t *testing.T) {
			v := &vault{kept: map[[3]string]string{}}
			b := setup(t, withTokens(v, map[string]string{"token": "first-token", "fixed": "fixed-value"}))
			_, err := b.probe(t.Context(), "renewing", term)
			wantFailure(t, err, stage.StageProtocol)
			if len(v.kept) > 0 {
				t.Errorf("got %v, want nothing kept", v.kept)
			}
		})
	}
	t.Run("one that the operator did not set", func(t *testing.T) {
		v := &vault{kept: map[[3]string]string{}}
		_, err := setup(t, withTokens(v, nil)).probe(t.Context(), "renewing", "renew:token,another-value")
		wantFailure(t, err, stage.StageProtocol)
	})
}

func TestATokenThatCannotBeKeptEndsTheCall(t *testing.T) {
	t.Parallel()
	v := &vault{kept: map[[3]string]string{}, broken: errors.New("the disk is full")}
	_, err := setup(t, withTokens(v, map[string]string{"token": "first-token"})).probe(t.Context(), "renewing", "renew:token,another-value")
	if !errors.Is(err, v.broken) {
		t.Errorf("got %v, want %v", err, v.broken)
	}
}
