package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// creatorsIn are the creators of the videos in a file, each with the end of the video's id.
func creatorsIn(t *testing.T, text string) (creators []string, said string) {
	t.Helper()
	recs, report := readText(t, "a.json", text)
	for _, rec := range recs {
		creator := rec.CreatorID
		if rec.Source != nil {
			creator += rec.Source.Handle
		}
		creators = append(creators, rec.ExternalID[len(rec.ExternalID)-2:]+" "+creator)
	}
	return creators, fmt.Sprintf("%q %+v", report.Form, report.Sorted())
}

const (
	byNames  = "creators by the names of the members"
	notTaken = "are not taken for handles, such as "
)

// TestHandlesOfNames takes the names of members for handles where they can be nothing else.
func TestHandlesOfNames(t *testing.T) {
	t.Parallel()
	const first, second = `{"id":"7521900000000000051","views":5,"likes":2}`, `{"id":"7521900000000000052","views":6,"likes":1}`
	const web = `{"id":"7521900000000000051","desc":"pour","createTime":1751328000,"stats":{"playCount":5}}`
	for _, c := range []struct {
		name, text string
		want       []string
		said       string
	}{
		{"an @", `{"@a.example":[` + first + `],"@slow":[` + second + `]}`, []string{"51 a.example", "52 slow"}, byNames},
		{"a word beside an @ is read and is no handle", `{"@a.example":[` + first + `],"slow":[` + second + `]}`, []string{"51 a.example", "52 "}, notTaken + `\"slow\"`},
		{"a sign of handles beside an @, where nothing names creators", `{"@a.example":[` + first + `],"slow_pour":[` + second + `]}`, []string{"51 a.example", "52 "}, notTaken + `\"slow_pour\"`},
		{"the address of a profile", `{"https://www.tiktok.com/@a.example":[` + first + `]}`, []string{"51 a.example"}, byNames},
		{"the address of a channel by its id", `{"https://www.youtube.com/channel/UCaaaaaaaaaaaaaaaaaaaaaa":[{"id":"AAAAAAAAS03","views":5}]}`, []string{"03 UCaaaaaaaaaaaaaaaaaaaaaa"}, byNames},
		{"a dot among creators", `{"creators":{"a.example":{"followers":9,"videos":[` + first + `]},"@slow_pour":{"videos":[` + second + `]}}}`, []string{"51 ", "52 slow_pour"}, notTaken + `\"a.example\"`},
		{"lists by account", `{"data":{"videosByAccount":{"pour14":[` + first + `]}}}`, []string{"51 "}, notTaken + `\"pour14\"`},
		{"ids of channels", `{"channels":{"UCaaaaaaaaaaaaaaaaaaaaaa":[{"id":"AAAAAAAAS03","views":5}]}}`, []string{"03 UCaaaaaaaaaaaaaaaaaaaaaa"}, byNames},
		{"an object that names its creator", `{"@a.example":[{"id":"7521900000000000051","views":5,"username":"a.example"},` + second + `]}`, []string{"51 a.example", "52 a.example"}, byNames},
		{"a list that names another creator", `{"@a.example":[{"id":"7521900000000000051","views":5,"username":"b.example"},` + second + `]}`, []string{"51 b.example", "52 "}, "names another one"},
		{"an address that names another creator", `{"@a.example":[{"url":"https://www.tiktok.com/@B.example/video/7521900000000000051","views":5},{"url":"https://www.tiktok.com/video/7521900000000000052","views":5}]}`, []string{"51 B.example", "52 "}, "names another one"},
		{"another platform than the address", `{"https://www.tiktok.com/@a.example":[{"platform":"youtube","id":"AAAAAAAAS03","views":5}]}`, []string{"03 "}, ""},
		{"TikTok's own form", `{"@a.example":{"videos":[` + web + `]}}`, []string{"51 a.example"}, byNames},
		{"yt-dlp's form", `{"@a.example":[{"id":"AAAAAAAAS03","extractor_key":"Youtube","title":"a","view_count":5}]}`, []string{"03 a.example"}, byNames},
		{"what an account likes is of others", `{"@a.example":{"likedVideos":[` + web + `]}}`, []string{"51 "}, ""},
		{"rows under names", `{"@a.example":[["video_id","views"],["7521900000000000051",5]]}`, []string{"51 a.example"}, byNames},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, said := creatorsIn(t, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(said, c.said) {
				t.Errorf("said %s, want %q; -want +got:\n%s", said, c.said, diff)
			}
		})
	}
}

// TestNamesThatAreNoHandles takes names of countries, months, kinds and groups for none, with a video under each that
// is read in any case.
func TestNamesThatAreNoHandles(t *testing.T) {
	t.Parallel()
	const web = `[{"id":"7521900000000000051","desc":"pour","createTime":1751328000,"stats":{"playCount":5}}]`
	for _, text := range []string{
		`{"germany":%s}`, `{"creators":{"germany":%s}}`, `{"creators":{"south_korea":%s}}`, `{"creators":{"de_AT":%s}}`, `{"users_by_country":{"a.example":%s}}`,
		`{"2026_01":%s}`, `{"creators":{"2026_01":%s}}`, `{"creators":{"jan_26":%s}}`, `{"accounts":{"2026.01.05":%s}}`, `{"creators":{"q3":%s}}`,
		`{"trending":%s}`, `{"creators":{"food_drink":%s}}`, `{"channels":{"paid_social":%s}}`, `{"creators":{"top_10":%s}}`, `{"profiles":{"page1":%s}}`,
		`{"users":{"64f0c2a7e19b2c0012345678":%s}}`, `{"users":{"6800000000000000001":%s}}`, `{"users":{"participant_7":%s}}`, `{"accounts":{"tiktok.com":%s}}`, `{"accounts":{"clips.json":%s}}`,
		`{"creators":{"alpha_1":%s,"alpha_2":[]}}`, `{"creators":{"pour.slow":%s,"top_10":[]}}`, `{"creators":{"pour.slow":%s,"Slow Pour":[]}}`, `{"accounts":{"ada@example.com":%s}}`,
		`{"mentions":{"@a.example":%s}}`, `{"search":{"results":{"@a.example":%s}}}`, `{"@graph":%s}`, `{"@odata.items":%s}`, `{"a.example":%s}`, `{"https://www.tiktok.com/tag/pour":%s}`, `{"#pour":%s}`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, said := creatorsIn(t, fmt.Sprintf(text, web))
			if diff := cmp.Diff([]string{"51 "}, got); diff != "" || strings.Contains(said, byNames) {
				t.Errorf("said %s; -want +got:\n%s", said, diff)
			}
		})
	}
}

// TestCommentsUnderHandles refuses lists under handles that may be of anything.
func TestCommentsUnderHandles(t *testing.T) {
	t.Parallel()
	got, said := creatorsIn(t, `{"@a.example":[{"id":"7521900000000000051","text":"nice","likes":5}]}`)
	if len(got) > 0 || !strings.Contains(said, "unknown_format") {
		t.Errorf("got %v, said %s, want no video and unknown_format", got, said)
	}
}

// TestMapsUnderHandles adds the creator of a name to what a map reads.
func TestMapsUnderHandles(t *testing.T) {
	t.Parallel()
	recs, _ := readFS(t, fstest.MapFS{
		"a.json":          {Data: []byte(`{"@a.example":[{"clip":"7521900000000000051","seen":5},{"clip":"7521900000000000052","seen":6,"who":"An Example"}]}`)},
		"a.json.map.json": {Data: []byte(`{"columns":{"externalId":"clip","views":"seen","handle":"who"},"constants":{"platform":"tiktok"}}`)},
	}, "a.json")
	var got []string
	for _, rec := range recs {
		if rec.Source != nil {
			got = append(got, rec.Source.Handle)
		}
	}
	if diff := cmp.Diff([]string{"a.example", "An Example"}, got); diff != "" {
		t.Errorf("handles (-want +got):\n%s", diff)
	}
}
