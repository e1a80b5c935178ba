package ytdlp

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// unplayable is what YouTube says of a video that it does not play.
type unplayable struct{ reason, more string }

// player is the answer that holds it.
func (u unplayable) player() string {
	text := func(s string) map[string]any { return map[string]any{"simpleText": s} }
	status := map[string]any{"status": "ERROR", "reason": u.reason}
	if u.more != "" {
		status["errorScreen"] = map[string]any{"playerErrorMessageRenderer": map[string]any{"reason": text(u.reason), "subreason": text(u.more)}}
	}
	body, _ := json.Marshal(map[string]any{"playabilityStatus": status})
	return string(body)
}

// watchPage is the page of a Short that can be watched.
func watchPage(id string) string {
	body, _ := json.Marshal(map[string]any{
		"playabilityStatus": map[string]any{"status": "OK"},
		"videoDetails":      map[string]any{"videoId": id, "title": "Pulled #espresso", "viewCount": "1234", "lengthSeconds": "20", "channelId": "UCaaaaaaaaaaaaaaaaaaaaaa"},
	})
	return string(body)
}

// watched serves the page and the player of videos: those in refused say why they do
// not play, all others do.
func watched(t *testing.T, refused map[string]unplayable) *web {
	t.Helper()
	return newWeb(t, func(out http.ResponseWriter, r *http.Request) {
		player := func(id string) string {
			if u, ok := refused[id]; ok {
				return u.player()
			}
			return watchPage(id)
		}
		switch r.URL.Path {
		case "/watch":
			_, _ = io.WriteString(out, "<html><script>var ytInitialPlayerResponse = "+player(r.FormValue("v"))+
				";</script><script>var ytInitialData = {\"contents\":{}};</script></html>")
		case "/youtubei/v1/player":
			var asked struct {
				VideoID string `json:"videoId"`
			}
			_ = json.NewDecoder(r.Body).Decode(&asked)
			_, _ = io.WriteString(out, player(asked.VideoID))
		case "/youtubei/v1/next":
			_, _ = io.WriteString(out, `{"contents":{}}`)
		case "/iframe_api":
		default:
			http.NotFound(out, r)
		}
	})
}

func shorts(ids ...string) (refs []stage.Ref) {
	for _, id := range ids {
		refs = append(refs, stage.Ref{Platform: youtube, ExternalID: id})
	}
	return refs
}

// TestRealProgramOnAVideoThatDoesNotPlay: the program ends well and writes a line
// about it, of which nothing is to be taken.
func TestRealProgramOnAVideoThatDoesNotPlay(t *testing.T) {
	real(t)
	w := watched(t, map[string]unplayable{"removed0000": {reason: "Video unavailable", more: "This video has been removed by the uploader"}})
	records, outcomes, err := stagetest.Refresh(t, Spec(), w.call(t), shorts("removed0000", "playing0000"))
	if err != nil || len(outcomes) == 0 {
		t.Fatalf("got %+v, error %v; want some outcomes", outcomes, err)
	}
	if len(records) != 1 || records[0].ExternalID != "playing0000" || *records[0].Metrics.Views != 1234 {
		t.Errorf("got records %+v, want playing0000 alone, with 1234 views", records)
	}
	if o := outcomes[0]; o.Status != stage.Partial || o.Asked != 2 || o.Returned != 1 {
		t.Errorf("got %+v, want %v with 2 asked and 1 returned", o, stage.Partial)
	}
}

// TestRealProgramSaysWhatIsGone: it words its limit, a country's block and what is
// gone for good nearly alike.
func TestRealProgramSaysWhatIsGone(t *testing.T) {
	real(t)
	none := "Video unavailable"
	w := watched(t, map[string]unplayable{
		"removed0000": {none, "This video has been removed by the uploader"},
		"private0000": {"Private video", "Sign in if you've been granted access to this video"},
		"country0000": {none, "The uploader has not made this video available in your country."},
		"session0000": {none, "This content isn’t available."},
		"limited0000": {none, "This content isn't available, try again later."},
	})
	records, outcomes, err := stagetest.Refresh(t, Spec(), w.call(t), shorts("removed0000", "country0000", "session0000", "private0000", "limited0000", "playing0000"))
	if err != nil || len(records) > 0 || len(outcomes) != 3 {
		t.Fatalf("got records %+v, outcomes %+v, error %v; want no record and 3 outcomes", records, outcomes, err)
	}
	// The limit ends it: the last one is not asked for.
	if o := outcomes[0]; o.Status != stage.Quota || o.Asked != 6 || o.RetryAt == nil || !strings.Contains(o.Detail, "try again later") {
		t.Errorf("got %+v, want %v of 6 asked, with a time to retry and the program's words", o, stage.Quota)
	}
	for i, id := range []string{"removed0000", "private0000"} {
		if o := outcomes[1+i]; o.Seed != id || o.Status != stage.NotFound || o.Platform != youtube {
			t.Errorf("got %+v, want %s of %s/%s", o, stage.NotFound, youtube, id)
		}
	}
}
