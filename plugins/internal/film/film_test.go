package film_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/stage"
)

var red = color.RGBA{R: 200, G: 30, B: 30, A: 255}

func newCall(t *testing.T) *stage.Call {
	t.Helper()
	return &stage.Call{Scratch: t.TempDir(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	call := newCall(t)
	clip := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: red}, filmtest.Scene{Seconds: 1.2, Colour: color.Black}, filmtest.Scene{Seconds: 2, Colour: color.White})
	files, remove, err := film.Frames(t.Context(), call, clip, 3, "png", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if size := picture.Bounds().Size(); size.X != 100 || size.Y != 178 {
			t.Errorf("a frame of %v, want X 100 and Y 178", size)
		}
		r, g, _, _ := picture.At(50, 50).RGBA()
		seen = append(seen, fmt.Sprint(r>>14, g>>14))
	}
	// At 0 s red, at 1 and at 2 s black.
	if want := "[3 0 0 0 0 0]"; fmt.Sprint(seen) != want {
		t.Errorf("frames %v, want %s", seen, want)
	}
	remove()
	left, _ := os.ReadDir(call.Scratch)
	if len(left) > 0 {
		t.Errorf("left in scratch: %v, want none", left)
	}
}

func TestShortClipHasFewerFrames(t *testing.T) {
	t.Parallel()
	clip := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1.5, Colour: red})
	files, remove, err := film.Frames(t.Context(), newCall(t), clip, 3, "jpg", 100, "")
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v, error %v; want 2 files", files, err)
	}
	remove()
}

func TestSound(t *testing.T) {
	t.Parallel()
	call := newCall(t)
	clip := filmtest.Clip(t, "sine=frequency=440", filmtest.Scene{Seconds: 3, Colour: red})
	wav, err := film.Sound(t.Context(), call, clip, 2)
	samples := len(wav) - film.SoundHeader
	if err != nil || !bytes.HasPrefix(wav, []byte("RIFF")) || samples < 2*film.SoundSecond-2_000 || samples > 2*film.SoundSecond+2_000 {
		t.Errorf("%d bytes, %v", len(wav), err)
	}
	if !bytes.HasSuffix(wav[:film.SoundHeader], binary.LittleEndian.AppendUint32([]byte("data"), uint32(samples))) {
		t.Errorf("a header of another length: %q", wav[:film.SoundHeader+40])
	}
	if left, _ := os.ReadDir(call.Scratch); len(left) > 0 {
		t.Errorf("left in scratch: %v, want none", left)
	}
	silent := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: red})
	if wav, err := film.Sound(t.Context(), call, silent, 2); err != nil || len(wav) > 0 {
		t.Errorf("a clip without sound: got %d bytes, error %v; want none", len(wav), err)
	}
}

// TestBadFiles are what a source may bring: nothing comes of them but an error of
// the file's own.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg")
	clip := filmtest.Clip(t, "", filmtest.Scene{Seconds: 2, Colour: red})
	whole, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{
		"empty": nil, "words": []byte("Not found\n"), "a page": []byte("<!doctype html><html><body>Sign in</body></html>"),
		"no end": whole[:len(whole)/2], "zeros": make([]byte, 1<<20),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := newCall(t)
			path := filepath.Join(call.Scratch, "film")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			wantUnreadable(t, call, path)
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		call := newCall(t)
		wantUnreadable(t, call, filepath.Join(call.Scratch, "film"))
	})
	t.Run("no time", func(t *testing.T) {
		t.Parallel()
		call := newCall(t)
		path := filepath.Join(call.Scratch, "film.mp4")
		filmtest.FFmpeg(t, "-i", clip, "-t", "0", "-c", "copy", path)
		wantUnreadable(t, call, path)
	})
	t.Run("sound alone", func(t *testing.T) {
		t.Parallel()
		call := newCall(t)
		path := filepath.Join(call.Scratch, "film.mp4")
		filmtest.FFmpeg(t, "-f", "lavfi", "-i", "sine=duration=2", "-c:a", "aac", path)
		wantUnreadable(t, call, path)
	})
	t.Run("huge picture", func(t *testing.T) {
		t.Parallel()
		call := newCall(t)
		path := filepath.Join(call.Scratch, "film.mkv")
		filmtest.FFmpeg(t, "-f", "lavfi", "-i", "color=red:size=16000x4000:rate=1", "-frames:v", "1", "-c:v", "ffv1", path)
		wantUnreadable(t, call, path)
	})
}

func wantUnreadable(t *testing.T, call *stage.Call, path string) {
	t.Helper()
	files, _, err := film.Frames(t.Context(), call, path, 3, "png", 100, "")
	if !film.Unreadable(err) {
		t.Errorf("%d frames, %v", len(files), err)
	}
}

// TestPlaylistsAreNotFollowed gives files that name others: a clip beside them, one
// by its full path, and one on a server.
func TestPlaylistsAreNotFollowed(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg")
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1) }))
	defer server.Close()
	call := newCall(t)
	beside := filepath.Join(call.Scratch, "part.ts")
	filmtest.FFmpeg(t, "-f", "lavfi", "-i", "color=red:duration=2:size=100x100", "-c:v", "mpeg2video", "-f", "mpegts", beside)
	// It is a clip that ffmpeg reads where it is handed over itself.
	if files, _, err := film.Frames(t.Context(), call, beside, 3, "png", 100, ""); err != nil || len(files) == 0 {
		t.Fatalf("the clip beside: got %v, error %v; want some files", files, err)
	}
	for _, target := range []string{"part.ts", "file://" + beside, beside, server.URL + "/part.ts", "file:///etc/passwd", "concat:" + beside, "subfile,,start,0,end,0,,:" + beside} {
		for form, text := range map[string]string{
			"hls":    "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n" + target + "\n#EXT-X-ENDLIST\n",
			"master": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n" + target + "\n",
			"concat": "ffconcat version 1.0\nfile '" + target + "'\n",
			"dash": `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="video/mp2t">` +
				`<Representation id="1" bandwidth="1"><BaseURL>` + target + `</BaseURL></Representation></AdaptationSet></Period></MPD>`,
			"sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
		} {
			t.Run(form+" of "+target, func(t *testing.T) {
				path := filepath.Join(call.Scratch, "film")
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if files, _, err := film.Frames(t.Context(), call, path, 3, "png", 100, ""); !film.Unreadable(err) {
					t.Errorf("%s of %s: %v, %v", form, target, files, err)
				}
			})
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the server was asked %d times, want 0", n)
	}
	// And the same list is one that ffmpeg follows, unless an option forbids it.
	list := filepath.Join(call.Scratch, "list")
	if err := os.WriteFile(list, []byte("ffconcat version 1.0\nfile part.ts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	filmtest.FFmpeg(t, "-i", list, "-frames:v", "1", filepath.Join(call.Scratch, "followed.png"))
}

func TestRunEndsWithTheCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := film.Run(ctx, newCall(t), "sleep", "30")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v, want %v and time at most %v", err, time.Since(began), context.DeadlineExceeded, 10*time.Second)
	}
}

func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	out, err := film.Run(t.Context(), newCall(t), "yes")
	if !film.Unreadable(err) || !strings.Contains(err.Error(), "wrote more than") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	_, err = film.Run(t.Context(), newCall(t), "sh", "-c", "yes bad 1>&2 & sleep 0.2; kill $!; exit 3")
	if !film.Unreadable(err) || len(err.Error()) > 500 || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v", err)
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	_, err := film.Run(t.Context(), newCall(t), "no-such-program")
	var fault *stage.Error
	if !errors.As(err, &fault) || fault.Fault != stage.FaultMisconfigured || errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestNothingOfTheHouseIsSeen has a program show its environment.
func TestNothingOfTheHouseIsSeen(t *testing.T) {
	t.Setenv("SCROLLERY_TEST_SECRET", "leak")
	out, err := film.Run(t.Context(), newCall(t), "env")
	if err != nil || strings.Contains(string(out), "leak") || !strings.Contains(string(out), "OMP_THREAD_LIMIT=1") {
		t.Errorf(`%s, %v, want no error, out without "leak" and out with "OMP_THREAD_LIMIT=1"`, out, err)
	}
}
