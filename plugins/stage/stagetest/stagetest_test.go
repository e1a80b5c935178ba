package stagetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// witness is a test that may fail without failing ours.
type witness struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (w *witness) Errorf(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}
func (w *witness) Cleanup(do func()) { w.cleanups = append(w.cleanups, do) }

func (w *witness) end() {
	for _, do := range w.cleanups {
		do()
	}
}

func record(platform string) stage.Record {
	return stage.Record{Ref: stage.Ref{Platform: platform, ExternalID: "1"}}
}

func source(emitted ...stage.Record) stage.Spec {
	return stage.Spec{
		ID: "source", Version: "1", Kind: stage.SourceKind,
		Settings: []stage.Setting{{Name: "tone", Default: "calm"}},
		Collect: func(_ context.Context, call *stage.Call, _ []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			call.Progress("begun")
			for _, r := range emitted {
				if err := emit(r); err != nil {
					return nil, err
				}
			}
			return []stage.Outcome{{Seed: call.Settings["tone"], Status: stage.OK}}, nil
		},
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	records, outcomes, err := stagetest.Collect(t, source(record("tiktok")), stage.Call{}, nil)
	if err != nil || len(records) != 1 || outcomes[0].Seed != "calm" {
		t.Errorf(`got records %v, outcomes %v, error %v; want 1 record, and the seed calm`, records, outcomes, err)
	}
	for _, lenient := range []bool{false, true} {
		t.Run(fmt.Sprintf("a record that the host refuses, lenient %t", lenient), func(t *testing.T) {
			w, spec := &witness{TB: t}, source(record("no platform"))
			spec.Lenient = lenient
			if _, _, err := stagetest.Collect(w, spec, stage.Call{}, nil); (err == nil) != lenient || len(w.errors) != 1 {
				t.Errorf("got %v, error %v; want 1 failure of the test, and an error if the stage is not lenient", w.errors, err)
			}
		})
	}
	big := record("tiktok")
	text := strings.Repeat("x", 2<<20)
	big.Evidence = &stage.Evidence{Spoken: &text}
	if _, _, err = stagetest.Collect(&witness{TB: t}, source(big), stage.Call{}, nil); err == nil {
		t.Error("a record of 2 MiB passes, want an error")
	}
}

func TestScreenWantsOneVerdictEach(t *testing.T) {
	t.Parallel()
	times := 1
	spec := stage.Spec{
		ID: "screen", Version: "1", Kind: stage.ScreenKind,
		Screen: func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
			for {
				r, err := next()
				if errors.Is(err, io.EOF) {
					return stage.Summary{}, nil
				}
				for range times {
					_ = emit(stage.Verdict{Ref: r.Ref})
				}
			}
		},
	}
	for _, n := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("%d verdicts", n), func(t *testing.T) {
			times = n
			w := &witness{TB: t}
			verdicts, _, err := stagetest.Screen(w, spec, stage.Call{}, []stage.Record{record("tiktok")})
			if err != nil || len(verdicts) != n || (len(w.errors) > 0) != (n != 1) {
				t.Errorf("%d verdicts: %v %v %v", n, verdicts, err, w.errors)
			}
		})
	}
}

// TestMediaWantsPlainFilesOfWhatWasAsked: other names, other videos and links fail a test.
func TestMediaWantsPlainFilesOfWhatWasAsked(t *testing.T) {
	t.Parallel()
	asked, other := stage.Ref{Platform: "tiktok", ExternalID: "1"}, stage.Ref{Platform: "tiktok", ExternalID: "2"}
	for name, c := range map[string]struct {
		file    stage.File
		refused int
		ends    bool // the call
	}{
		"a plain file":            {stage.File{Ref: asked, Name: "1.mp4"}, 0, false},
		"a video not asked about": {stage.File{Ref: other, Name: "1.mp4"}, 1, false},
		"a file that is missing":  {stage.File{Ref: asked, Name: "none.mp4"}, 1, false},
		"a file outside":          {stage.File{Ref: asked, Name: "../1.mp4"}, 1, true},
		"a link":                  {stage.File{Ref: asked, Name: "link.mp4"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{TB: t}
			spec := source()
			spec.Media = func(_ context.Context, call *stage.Call, _ []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
				if err := os.WriteFile(filepath.Join(call.Scratch, "1.mp4"), []byte("film"), 0o600); err != nil {
					return nil, err
				}
				if err := os.Symlink("1.mp4", filepath.Join(call.Scratch, "link.mp4")); err != nil {
					return nil, err
				}
				return nil, emit(c.file)
			}
			files, _, err := stagetest.Media(w, spec, stage.Call{}, []stage.Ref{asked})
			w.end()
			if (err != nil) != c.ends || !c.ends && (len(files) != 1 || files[0].Name != c.file.Name) {
				t.Errorf("files %+v, error %v, want %q, and an error: %t", files, err, c.file.Name, c.ends)
			}
			if len(w.errors) != c.refused {
				t.Errorf("failures %q, want %d", w.errors, c.refused)
			}
		})
	}
}

func get(t *testing.T, transport http.RoundTripper, address, body string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer t0ken")
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return string(raw), err
}

func TestReplay(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "id=t0ken")
		_, _ = io.WriteString(w, "page of t0ken")
	}))
	path := filepath.Join(t.TempDir(), "saved", "site.json")
	address := site.URL + "/v1?key=t0ken"

	t.Setenv(stagetest.RecordVariable, "1")
	w := &witness{TB: t}
	if _, err := get(t, stagetest.Replay(w, path, "t0ken"), address, "q"); err != nil {
		t.Fatal(err)
	}
	w.end()
	site.Close()
	t.Setenv(stagetest.RecordVariable, "")
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), "t0ken") || !strings.Contains(string(raw), "page of SECRET") {
		t.Errorf(`saved: %s, want raw without "t0ken" and raw with "page of SECRET"`, raw)
	}

	w = &witness{TB: t}
	transport := stagetest.Replay(w, path, "other")
	if text, err := get(t, transport, strings.ReplaceAll(address, "t0ken", "other"), "q"); err != nil || text != "page of SECRET" {
		t.Errorf(`%q, %v, want no error and text "page of SECRET"`, text, err)
	}
	if _, err := get(t, transport, address, "q"); err == nil {
		t.Error("a second request is answered, want an error")
	}
	w.end()
	if len(w.errors) != 1 {
		t.Errorf("errors %q, want one for the request that nothing is saved for", w.errors)
	}

	w = &witness{TB: t}
	stagetest.Replay(w, path)
	if w.end(); len(w.errors) != 1 || !strings.Contains(w.errors[0], "nothing asked") {
		t.Errorf(`errors %q, want 1 error and errors[0] with "nothing asked"`, w.errors)
	}
}

// TestReplayHidesWhatIsEscaped: a secret that no address can hold as it is.
func TestReplayHidesWhatIsEscaped(t *testing.T) {
	const secret = "t0/ken+= x"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "next: /v1?"+r.URL.RawQuery)
	}))
	path := filepath.Join(t.TempDir(), "site.json")
	ask := func(transport http.RoundTripper, secret string) error {
		key := url.Values{"key": {secret}}.Encode()
		_, err := get(t, transport, site.URL+"/of/"+url.PathEscape(secret)+"?"+key, key)
		return err
	}

	t.Setenv(stagetest.RecordVariable, "1")
	w := &witness{TB: t}
	if err := ask(stagetest.Replay(w, path, secret), secret); err != nil {
		t.Fatal(err)
	}
	w.end()
	site.Close()
	t.Setenv(stagetest.RecordVariable, "")
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), "ken") || strings.Count(string(raw), "SECRET") != 4 {
		t.Errorf(`saved: %s, want raw without "ken" and count 4`, raw)
	}
	w = &witness{TB: t}
	if err := ask(stagetest.Replay(w, path, "an/other + "), "an/other + "); err != nil {
		t.Error(err)
	}
	w.end()
}
