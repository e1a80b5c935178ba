package ytdlp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/ytdlp/ytdlptest"
)

// programs puts programs of the test's own in the place of all others.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
}

func TestSetup(t *testing.T) {
	const (
		targets = "[info] Available impersonate targets\nClient     OS     Source\n-------\nChrome-136 Macos-15 curl_cffi\nTor-14 Macos-14 curl_cffi (unavailable)"
		none    = "Client     OS     Source\n-------\nChrome-136 Macos-15 curl_cffi (unavailable)"
	)
	yt := func(version, targets string) string {
		return "case \"$*\" in --version) echo " + version + ";; *targets) printf '%s' '" + targets + "';; *) exit 2;; esac"
	}
	for name, c := range map[string]struct {
		scripts  map[string]string
		problems []string
	}{
		"all there":      {map[string]string{"yt-dlp": yt("2026.08.19", targets), "deno": "echo deno 2.1"}, nil},
		"node instead":   {map[string]string{"yt-dlp": yt("2026.10.01.232855", targets), "node": "echo v20.1.0"}, nil},
		"nothing":        {nil, []string{"not installed"}},
		"does not run":   {map[string]string{"yt-dlp": "exit 1"}, []string{"does not run"}},
		"old":            {map[string]string{"yt-dlp": "[ $1 = --version ] && echo 2023.03.04", "deno": "echo 2"}, []string{"too old", "curl_cffi"}},
		"no curl_cffi":   {map[string]string{"yt-dlp": yt("2026.08.19", none), "deno": "echo 2"}, []string{"curl_cffi"}},
		"no runtime":     {map[string]string{"yt-dlp": yt("2026.08.19", targets)}, []string{"deno"}},
		"node too old":   {map[string]string{"yt-dlp": yt("2026.08.19", targets), "node": "echo v18.19.0"}, []string{"deno"}},
		"other versions": {map[string]string{"yt-dlp": yt("stable-build", targets), "deno": "echo 2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			programs(t, c.scripts)
			got := CheckSetup(t.Context())
			if len(got.Problems) != len(c.problems) {
				t.Fatalf("problems %q, want %d", got.Problems, len(c.problems))
			}
			for i, want := range c.problems {
				if !strings.Contains(got.Problems[i], want) {
					t.Errorf("problem %q, want %q in it", got.Problems[i], want)
				}
			}
			if text := got.String(); (text == "") != (len(c.problems) == 0) || text != "" && !strings.Contains(text, Install) {
				t.Errorf("as a sentence %q, want the command that installs it", text)
			}
		})
	}
}

// TestRuntimeOfJavaScript: node is named if there is no deno, if the program knows how.
func TestRuntimeOfJavaScript(t *testing.T) {
	for name, c := range map[string]struct {
		others map[string]string
		help   string
		want   []string
	}{
		"deno":    {map[string]string{"deno": "", "node": ""}, " --js-runtimes ", nil},
		"node":    {map[string]string{"node": ""}, " --js-runtimes ", []string{"--js-runtimes", "node"}},
		"neither": {nil, " --js-runtimes ", nil},
		"old":     {map[string]string{"node": ""}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			programs(t, c.others)
			if got := runtime(c.help); !slices.Equal(got, c.want) {
				t.Errorf("options %q, want %q", got, c.want)
			}
		})
	}
}

// TestFailureOfAnOldVersion says how to get a newer one.
func TestFailureOfAnOldVersion(t *testing.T) {
	ytdlptest.Install(t, "2023.03.04", "echo 'ERROR: Unable to extract universal data for rehydration' >&2; exit 1")
	call := stage.Call{Settings: map[string]string{"enabled": "yes"}}
	_, outcomes, err := stagetest.Collect(t, Spec(), call, beans)
	if err != nil || outcomes[0].Status != stage.Blocked || !strings.Contains(outcomes[0].Detail, Install) {
		t.Errorf("got %+v, error %v; want %s with the command that updates it", outcomes, err, stage.Blocked)
	}
}
