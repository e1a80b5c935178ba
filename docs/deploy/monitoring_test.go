package deploy_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// An alert is a rule of alerts.yml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal([]byte(read(t, "alerts.yml")), &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatalf("alerts.yml has no alert: got %v, want some", len(all))
	}
	return all
}

// A panel is one of dashboard.json.
type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ RefID, Expr string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	var file struct {
		Title, UID string
		Panels     []panel
	}
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &file); err != nil {
		t.Fatal(err)
	}
	if file.Title == "" || file.UID == "" || len(file.Panels) == 0 {
		t.Fatalf("dashboard.json: got title %q, uid %q and %d panels, want some of each", file.Title, file.UID, len(file.Panels))
	}
	return file.Panels
}

// registered are the names of metrics in the sources that use Prometheus, by whether
// they are whole names or, for the collectors of its library, prefixes.
func registered(t *testing.T) (names map[string]bool, prefixes []string) {
	t.Helper()
	names = map[string]bool{"up": true} // Prometheus's own
	name := regexp.MustCompile(`"(scrollery_[a-z0-9_]+)"`)
	for _, root := range []string{"../../app", "../../modules"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source := read(t, path)
			if !strings.Contains(source, "prometheus/client_golang") {
				return nil
			}
			for _, match := range name.FindAllStringSubmatch(source, -1) {
				names[match[1]] = true
			}
			for collector, prefix := range map[string]string{"NewGoCollector": "go_", "NewProcessCollector": "process_"} {
				if strings.Contains(source, collector) {
					prefixes = append(prefixes, prefix)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names, prefixes
}

// TestMetricsExist: every metric of the alerts and the dashboard is one of the program.
func TestMetricsExist(t *testing.T) {
	t.Parallel()
	names, prefixes := registered(t)
	metric := regexp.MustCompile(`\b(?:up|(?:scrollery|go|process)_[a-z0-9_]+)\b`)
	check := func(t *testing.T, where, expr string) {
		t.Helper()
		found := metric.FindAllString(expr, -1)
		if len(found) == 0 {
			t.Errorf("%s reads no metric: %s, want some", where, expr)
		}
		for _, full := range found {
			short := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(full, "")
			known := names[full] || names[short]
			for _, prefix := range prefixes {
				known = known || strings.HasPrefix(full, prefix)
			}
			if !known {
				t.Errorf("%s reads %s, which the program does not have, want known", where, full)
			}
		}
	}
	for _, alert := range alerts(t) {
		check(t, "alert "+alert.Alert, alert.Expr)
	}
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			check(t, "panel "+panel.Title, target.Expr)
		}
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, alert := range alerts(t) {
		if seen[alert.Alert] {
			t.Errorf("%s is there twice", alert.Alert)
		}
		seen[alert.Alert] = true
		if severity := alert.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s has severity %q, want critical or warning", alert.Alert, severity)
		}
		if alert.For == "" || alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s lacks one of for (%q), summary (%q) and description (%q)",
				alert.Alert, alert.For, alert.Annotations["summary"], alert.Annotations["description"])
		}
	}
}

func TestPanelsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	type place struct{ x, y int }
	ids, taken := map[int]string{}, map[place]string{}
	for _, panel := range panels(t) {
		if other, found := ids[panel.ID]; found {
			t.Errorf("%q and %q have id %d, want not found", panel.Title, other, panel.ID)
		}
		ids[panel.ID] = panel.Title
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("%q shows nothing", panel.Title)
		}
		for x := range panel.GridPos.W {
			for y := range panel.GridPos.H {
				at := place{panel.GridPos.X + x, panel.GridPos.Y + y}
				if other, found := taken[at]; found {
					t.Fatalf("%q covers %q, want not found", panel.Title, other)
				}
				taken[at] = panel.Title
			}
		}
	}
}

// TestPrometheusAccepts asks Prometheus's own tool, where it is installed, about the configuration, the alerts and
// the expressions of the dashboard, which it reads as rules.
func TestPrometheusAccepts(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			rules = append(rules, rule{"panel:" + strings.ToLower(target.RefID), variables.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []map[string]any{{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "alerts.yml"},
		{"check", "rules", "--lint=none", file},
	} {
		t.Run(strings.Join(arguments, " "), func(t *testing.T) {
			if output, err := exec.CommandContext(t.Context(), promtool, arguments...).CombinedOutput(); err != nil {
				t.Errorf("promtool %v: %v: %s", arguments, err, output)
			}
		})
	}
}
