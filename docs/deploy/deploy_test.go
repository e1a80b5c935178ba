// Package deploy_test checks the files of this folder against the program that they start.
package deploy_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shipped are the files that an operator copies, and the page about them.
var shipped = []string{"README.md", "Containerfile", "compose.yaml", "Caddyfile", "scrollery.service", "prometheus.yml", "alerts.yml"}

// TestSettingsExist: every variable that the files name is a setting, and only secrets are read from files.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{app.Prefix + "CONFIG": true}
	for _, setting := range app.Settings() {
		known[app.Prefix+setting.Name] = true
		if setting.Secret {
			known[app.Prefix+setting.Name+"_FILE"] = true
		}
	}
	variable := regexp.MustCompile(app.Prefix + `[A-Z_]+`)
	named := 0
	for _, file := range shipped {
		for _, name := range variable.FindAllString(read(t, file), -1) {
			named++
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", file, name)
			}
		}
	}
	if named < 5 {
		t.Errorf("the files name %d settings, want more", named)
	}
}

// TestCommandsExist: every command that the files run is a command of the program.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../../cmd/scrollery/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no commands %v, want no error and some sources", err)
	}
	var program strings.Builder
	for _, source := range sources {
		program.WriteString(read(t, source))
	}
	exists := func(name string) bool {
		return strings.Contains(program.String(), `Use:   "`+name) || strings.Contains(program.String(), `group("`+name)
	}
	runs := regexp.MustCompile(`(?:bin/scrollery|\bscrollery scrollery|^CMD \[")[ ]?([a-z]+)`)
	found := map[string]bool{}
	for _, file := range shipped {
		for _, line := range strings.Split(read(t, file), "\n") {
			for _, match := range runs.FindAllStringSubmatch(line, -1) {
				found[match[1]] = true
				if !exists(match[1]) {
					t.Errorf("%s runs scrollery %s, which is no command: %s", file, match[1], line)
				}
			}
		}
	}
	if !found["serve"] || len(found) < 2 {
		t.Errorf("the files run %v, want serve and others", slices.Sorted(maps.Keys(found)))
	}
}

// A service is what the tests read of a service of compose.yaml.
type service struct {
	Image       string
	User        string
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	SecurityOpt []string          `yaml:"security_opt"`
	StopGrace   string            `yaml:"stop_grace_period"`
	DependsOn   any               `yaml:"depends_on"`
	Environment map[string]string `yaml:"environment"`
	Secrets     []string
	Volumes     []string
	HealthCheck struct{ Test []string } `yaml:"healthcheck"`
}

type composition struct {
	Services map[string]service
	Volumes  map[string]any
	Secrets  map[string]struct{ File string }
}

func compose(t *testing.T) composition {
	t.Helper()
	var file composition
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// servers are the services that run the program.
func (c composition) servers() map[string]service {
	found := maps.Clone(c.Services)
	maps.DeleteFunc(found, func(_ string, s service) bool { return s.Image != "scrollery" })
	return found
}

func TestComposeHasTwoOfEachRole(t *testing.T) {
	t.Parallel()
	got := map[string]int{}
	for _, server := range compose(t).servers() {
		got[server.Environment["SCROLLERY_ROLES"]]++
	}
	if diff := cmp.Diff(map[string]int{"api": 2, "worker": 2}, got); diff != "" {
		t.Errorf("processes of each role (-want +got):\n%s", diff)
	}
}

func TestComposeNamesWhatItHas(t *testing.T) {
	t.Parallel()
	file := compose(t)
	for name, service := range file.Services {
		for _, secret := range service.Secrets {
			if _, found := file.Secrets[secret]; !found {
				t.Errorf("%s uses secret %s, which is not declared, want one", name, secret)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, declared := file.Volumes[source]; declared {
				continue
			}
			if _, err := os.Stat(source); !strings.HasPrefix(source, "./") || err != nil {
				t.Errorf(`%s mounts %s, which is neither a volume nor a file of this folder, want source starting with "./" and no error`, name, source)
			}
		}
		for _, other := range dependencies(service.DependsOn) {
			if _, found := file.Services[other]; !found {
				t.Errorf("%s depends on %s, which is no service, want one", name, other)
			}
		}
	}
	for _, backend := range regexp.MustCompile(`\b([a-z0-9]+):8080`).FindAllStringSubmatch(read(t, "Caddyfile"), -1) {
		if roles := file.Services[backend[1]].Environment["SCROLLERY_ROLES"]; roles != "api" {
			t.Errorf("the proxy sends requests to %s, whose role is %q, want api", backend[1], roles)
		}
	}
}

// TestEveryProcessIsWatched: Prometheus scrapes the operations port of each server, the proxy asks the same port, and
// each server has a health check.
func TestEveryProcessIsWatched(t *testing.T) {
	t.Parallel()
	_, port, _ := strings.Cut(regexp.MustCompile(`SCROLLERY_OPS_ADDR=\S+`).FindString(read(t, "Containerfile")), ":")
	if port == "" {
		t.Fatalf("the image sets no operations port: got %q, want port not empty", port)
	}
	var want, got []string
	for name, server := range compose(t).servers() {
		want = append(want, name+":"+port)
		if diff := cmp.Diff([]string{"CMD", "/usr/local/bin/scrollery", "ready"}, server.HealthCheck.Test); diff != "" {
			t.Errorf("health check of %s (-want +got):\n%s", name, diff)
		}
	}
	var file struct {
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "prometheus.yml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, job := range file.ScrapeConfigs {
		for _, static := range job.StaticConfigs {
			got = append(got, static.Targets...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets of Prometheus (-want +got):\n%s", diff)
	}
	if caddy := read(t, "Caddyfile"); !strings.Contains(caddy, "health_port "+port+"\n") {
		t.Errorf("the proxy does not ask port %s, want with %v", port, "health_port "+port+"\n")
	}
}

func dependencies(field any) []string {
	var names []string
	switch field := field.(type) {
	case map[string]any:
		return slices.Collect(maps.Keys(field))
	case []any:
		for _, name := range field {
			names = append(names, name.(string))
		}
	}
	return names
}

// TestServersOfComposeHaveFewRights: no root, nothing to write but /tmp and the data, and time to stop.
func TestServersOfComposeHaveFewRights(t *testing.T) {
	t.Parallel()
	for name, server := range compose(t).servers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if server.User == "" || strings.HasPrefix(server.User, "0") || strings.HasPrefix(server.User, "root") {
				t.Errorf("user %q, want another than root", server.User)
			}
			if !server.ReadOnly {
				t.Errorf("the root folder can be written: got %v, want ReadOnly", server.ReadOnly)
			}
			if diff := cmp.Diff([]string{"ALL"}, server.CapDrop); diff != "" {
				t.Errorf("capabilities that are dropped (-want +got):\n%s", diff)
			}
			if !slices.Contains(server.SecurityOpt, "no-new-privileges:true") {
				t.Errorf("security options %v, want no-new-privileges:true", server.SecurityOpt)
			}
			if grace, err := time.ParseDuration(server.StopGrace); err != nil || grace < 30*time.Second {
				t.Errorf("%q to stop, want at least 30s (%v)", server.StopGrace, err)
			}
		})
	}
}

// TestSettingsOfComposeAreAccepted loads the environment of each server as the program does.
func TestSettingsOfComposeAreAccepted(t *testing.T) {
	t.Parallel()
	address := filepath.Join(t.TempDir(), "database_url")
	if err := os.WriteFile(address, []byte("postgres://scrollery:secret@postgres/scrollery?sslmode=disable\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, server := range compose(t).servers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environment := maps.Clone(server.Environment)
			environment["SCROLLERY_BASE_URL"] = strings.ReplaceAll(environment["SCROLLERY_BASE_URL"], "${DOMAIN:-localhost}", "localhost")
			if _, found := environment["SCROLLERY_DATABASE_URL_FILE"]; !found {
				t.Fatalf("the server has no PostgreSQL: got %v, want one", found)
			}
			environment["SCROLLERY_DATABASE_URL_FILE"] = address
			_, err := app.Load(func(key string) (string, bool) {
				value, found := environment[key]
				return value, found
			}, nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnitIsAccepted asks systemd, where it is installed.
func TestUnitIsAccepted(t *testing.T) {
	t.Parallel()
	unit := read(t, "scrollery.service")
	for _, line := range []string{"User=scrollery", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "CPUWeight=200", "Environment=GOGC=400 GOMEMLIMIT=1GiB"} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit has no line %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	// The program is not installed on this machine, so another one takes its place.
	file := filepath.Join(t.TempDir(), "scrollery.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(unit, "/usr/local/bin/scrollery", "/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput()
	if err != nil || strings.Contains(string(output), "scrollery.service:") {
		t.Errorf(`systemd-analyze verify: %v, want no error and output without "scrollery.service:": %s`, err, output)
	}
}

// TestCaddyfileIsAccepted asks Caddy, where it is installed.
func TestCaddyfileIsAccepted(t *testing.T) {
	t.Parallel()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("caddy is not installed")
	}
	check := exec.CommandContext(t.Context(), caddy, "validate", "--adapter", "caddyfile", "--config", "Caddyfile")
	check.Env = append(os.Environ(), "HOME="+t.TempDir())
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}
