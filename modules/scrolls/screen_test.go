package scrolls

import (
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestScreenThatIsOff is left out of the scroll, which says so.
func TestScreenThatIsOff(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.screen = rankByNumber(func(int) string { return "rule_1" })
		screens := w.service.cfg.Templates["default"].Screens
		w.unusable = screens
		done := w.complete(w.create(Start{}).ID)
		want := []string{screens[0] + " is left out, nothing is dropped by it: switched off"}
		if done.Progress.Dropped != 0 || done.NewVideos == 0 || !slices.Equal(done.Progress.ScreenNotes, want) {
			t.Errorf("dropped %d, new %d, notes %q, want Dropped 0, NewVideos not 0 and ScreenNotes %v", done.Progress.Dropped, done.NewVideos, done.Progress.ScreenNotes, want)
		}
	})
}
