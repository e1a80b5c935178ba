package app_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/scrolls"
)

// TestDoctorReportsWhatServingRefuses: a template with a stage that nobody has.
func TestDoctorReportsWhatServingRefuses(t *testing.T) {
	t.Parallel()
	cfg := app.Defaults()
	cfg.DataDir = t.TempDir()
	template := cfg.Scrolls.Templates["default"]
	template.Screens = []string{"nobody"}
	cfg.Scrolls.Templates = map[string]scrolls.Template{"default": template}
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := app.Doctor(t.Context(), cfg, &out); err == nil || !strings.Contains(out.String(), `there is no stage "nobody"`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
