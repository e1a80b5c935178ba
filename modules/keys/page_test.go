package keys

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestAnUnknownCommitIsNotDenied: a database that was lost in the commit may have replaced
// the keys.
func TestAnUnknownCommitIsNotDenied(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	page, err := NewRecoveryPage(b.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	page.fail(answer, httptest.NewRequest(http.MethodPost, LinkPath, nil), fmt.Errorf("use a recovery link: %w", apierr.ErrUnknown))
	if got := answer.Body.String(); answer.Code != http.StatusInternalServerError || strings.Contains(got, "Nothing has changed") || !strings.Contains(got, "not known") {
		t.Errorf("got %d %s, want 500 and a page that says that the outcome is not known", answer.Code, got)
	}
}
