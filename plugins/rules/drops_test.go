package rules

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/stage"
)

// seenVideo is a real video as a person who reads a table of them sees it; -1 is not known.
type seenVideo struct {
	platform, creator, text               string
	tags                                  []string
	views, likes, comments, seconds, fans int64
	posted                                time.Time
	language                              string
}

// read is when the rows are looked at: after the newest of them.
var read = time.Date(2026, 8, 23, 0, 0, 0, 0, time.UTC)

func (v seenVideo) record() stage.Record {
	count := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	metadata := map[string]any{"caption": v.text, "hashtags": v.tags}
	if v.seconds > 0 {
		metadata["durationSeconds"] = v.seconds
	}
	raw, err := json.Marshal(metadata)
	if err != nil {
		panic(err)
	}
	rec := stage.Record{
		Ref: stage.Ref{Platform: v.platform, ExternalID: "1"}, Metadata: raw,
		Source:  &stage.Source{Kind: "niche", Handle: v.creator},
		Metrics: stage.Metrics{Views: count(v.views), Likes: count(v.likes), Comments: count(v.comments), Followers: count(v.fans)},
	}
	if !v.posted.IsZero() {
		rec.PostedAt = ptr(v.posted.UnixMilli())
	}
	return rec
}

// says finds whole words in the caption and the tags, whatever their case.
func says(words string) func(seenVideo) bool {
	re := regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(?:` + words + `)(?:$|[^\pL\pN])`)
	return func(v seenVideo) bool { return re.MatchString(v.text + " #" + strings.Join(v.tags, " #")) }
}

func tags(words string) func(seenVideo) bool {
	re := regexp.MustCompile(`(?i)#(?:` + words + `)(?:$|[^\pL\pN_])`)
	return func(v seenVideo) bool { return re.MatchString(v.text + " #" + strings.Join(v.tags, " #")) }
}

// frequent are words that one language alone uses, to tell a caption's by.
var frequent = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)(?:^|[^\pL#@])(?:the|this|is|you|your|with|and|my|what|how|of|are|it|why|when|best|new|for)(?:$|[^\pL])`),
	"da": regexp.MustCompile(`(?i)(?:^|[^\pL#@])(?:og|er|det|ikke|jeg|vi|på|til|af|at|har|som|med|skal|hvad|hvorfor|der)(?:$|[^\pL])`),
	"fr": regexp.MustCompile(`(?i)(?:^|[^\pL#@])(?:le|la|les|est|pour|avec|sur|pas|vous|ce|cette|et|une|je|mon|du|des|c'est)(?:$|[^\pL])`),
	"ko": regexp.MustCompile(`\p{Hangul}`),
}

// tongue is the language whose frequent words a caption has most of, at least two and twice
// as many as of any other; empty if it cannot be told.
func tongue(v seenVideo) string {
	best, most, second := "", 1, 0
	for of, re := range frequent {
		n := len(re.FindAllString(strings.ReplaceAll(v.text, " ", "  "), -1))
		if n > most {
			best, most, second = of, n, max(second, most*min(1, len(best)))
		} else {
			second = max(second, n)
		}
	}
	if most < 2*second {
		return ""
	}
	return best
}

func not(is func(seenVideo) bool) func(seenVideo) bool {
	return func(v seenVideo) bool { return !is(v) }
}

func on(platform string) func(seenVideo) bool {
	return func(v seenVideo) bool { return v.platform == platform }
}

// both drops what all of the predicates drop; any what one does.
func both(all ...func(seenVideo) bool) func(seenVideo) bool {
	return func(v seenVideo) bool {
		for _, is := range all {
			if !is(v) {
				return false
			}
		}
		return true
	}
}

func anyOf(all ...func(seenVideo) bool) func(seenVideo) bool {
	return func(v seenVideo) bool {
		for _, is := range all {
			if is(v) {
				return true
			}
		}
		return false
	}
}

func views(least, most int64) func(seenVideo) bool { // in [least, most]
	return func(v seenVideo) bool { return v.views >= 0 && v.views >= least && v.views <= most }
}

func likes(least, most int64) func(seenVideo) bool {
	return func(v seenVideo) bool { return v.likes >= 0 && v.likes >= least && v.likes <= most }
}

func lasts(least, most int64) func(seenVideo) bool {
	return func(v seenVideo) bool { return v.seconds > 0 && v.seconds >= least && v.seconds <= most }
}

func fans(least, most int64) func(seenVideo) bool {
	return func(v seenVideo) bool { return v.fans >= 0 && v.fans >= least && v.fans <= most }
}

func before(year int, month time.Month, day int) func(seenVideo) bool {
	at := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return func(v seenVideo) bool { return !v.posted.IsZero() && v.posted.Before(at) }
}

func speaks(languages ...string) func(seenVideo) bool {
	return func(v seenVideo) bool {
		for _, l := range languages {
			if v.language == l {
				return true
			}
		}
		return false
	}
}

// foreign drops what is told to be of another language than these.
func foreign(languages ...string) func(seenVideo) bool {
	return func(v seenVideo) bool { return v.language != "" && !speaks(languages...)(v) }
}

func by(names ...string) func(seenVideo) bool {
	return func(v seenVideo) bool {
		for _, n := range names {
			if v.creator == n {
				return true
			}
		}
		return false
	}
}

const lots = int64(1) << 60

// plainRules are rules as marketers write them, and what a person who filters a table would
// drop for each. The predicates were written before any of the rules was read.
var plainRules = []struct {
	rule string
	drop func(seenVideo) bool
}{
	{"Nothing below 10k views please", views(0, 9999)},
	{"We only want videos with at least 100,000 views", views(0, 99999)},
	{"min. 1M views", views(0, 999999)},
	{"skip the flops: anything under 500 views", views(0, 499)},
	{"max 5 million views, mega hits teach us nothing", views(5000001, lots)},
	{"Only keep posts which got more than 20k likes", likes(0, 20000)},
	{"fewer than 100 likes -> out", likes(0, 99)},
	{"At least 50 comments, otherwise skip", func(v seenVideo) bool { return v.comments >= 0 && v.comments < 50 }},
	{"between 10k and 100k views only", anyOf(views(0, 9999), views(100001, lots))},
	{"no videos longer than a minute", lasts(61, lots)},
	{"Only clips under 30 seconds", lasts(30, lots)},
	{"Please leave out everything over 10 minutes", lasts(601, lots)},
	{"15 to 60 seconds long", anyOf(lasts(1, 14), lasts(61, lots))},
	{"too short is useless: drop videos under 10 sec", lasts(1, 9)},
	{"Nothing older than 6 months", before(2026, 2, 23)},
	{"Only videos from 2026", before(2026, 1, 1)},
	{"skip everything posted before March 2026", before(2026, 3, 1)},
	{"posted within the last 30 days", before(2026, 7, 24)},
	{"no TikToks", on("tiktok")},
	{"YouTube only", not(on("youtube"))},
	{"We're interested in TikTok and Instagram, nothing else", not(anyOf(on("tiktok"), on("instagram")))},
	{"Exclude Instagram", on("instagram")},
	{"On YouTube at least 50k views", both(on("youtube"), views(0, 49999))},
	{"TikTok videos must have 10,000 likes or more", both(on("tiktok"), likes(0, 9999))},
	{"Skip YouTube videos over 3 minutes", both(on("youtube"), lasts(181, lots))},
	{"no TikToks under 1000 views", both(on("tiktok"), views(0, 999))},
	{"English only", foreign("en")},
	{"Only Danish or English content", foreign("da", "en")},
	{"please no French videos", speaks("fr")},
	{"nothing in Korean", speaks("ko")},
	{"French videos need at least 10k views", both(speaks("fr"), views(0, 9999))},
	{"No iPhone content", says(`iphones?`)},
	{"Skip anything about Samsung or Xiaomi", says(`samsung|xiaomi`)},
	{"don't show unboxings", says(`unbox|unboxings?|unboxed`)},
	{"Remove all posts that mention ChatGPT", says(`chatgpt`)},
	{"Only videos mentioning Apple", not(says(`apples?`))},
	{"must mention iphone or macbook", not(says(`iphones?|macbooks?`))},
	{"no robot vacuums", says(`robot vacuums?`)},
	{"Keep Tesla out", says(`teslas?`)},
	{"exclude #fyp and #foryou", tags(`fyp|foryou`)},
	{"nothing tagged #dkpol", tags(`dkpol`)},
	{"Only posts with the hashtag #shorts", not(tags(`shorts`))},
	{"hide #duet, #viral and #trending", tags(`duet|viral|trending`)},
	{"We don't want giveaways or contests", says(`giveaways?|contests?`)},
	{"no reviews with less than 5,000 views", both(says(`reviews?`), views(0, 4999))},
	{"skip gaming videos under 10k views", both(says(`gaming`), views(0, 9999))},
	{"Drop PS5 videos unless they have over 100k views", both(says(`ps5s?`), views(0, 100000))},
	{"No Black Friday deals", says(`black friday deals?`)},
	{"No videos about Black Friday", says(`black friday`)},
	{"exclude videos by @danskfolkeparti_", by("danskfolkeparti_")},
	{"Only charlidamelio and addisonre", nil},
	{"only @charlidamelio and @addisonre", not(by("charlidamelio", "addisonre"))},
	{"Creators with less than 100k followers are too small for us", fans(0, 99999)},
	{"no accounts above 20 million followers", fans(20000001, lots)},
	{"no politics", says(`politics|political|politicians?|politik|politiker|politikere|politikerne|politisk|politiske|dkpol|folketing|folketinget|folketingsvalg|folketingsvalget|regering|regeringen|election|government|parliament|minister`)},
	{"Please no workout stuff", says(`workouts?`)},
	{"No cartoons", says(`cartoons?`)},
	{"no tutorials, no vlogs", says(`tutorials?|vlogs?`)},
	{"we don't need anime edits", says(`anime edits?`)},
	{"only funny ones", nil},
	{"videos that could go viral for us", nil},
	{"skip low quality footage", nil},
	{"at least 5k views and no longer than 90 seconds", anyOf(views(0, 4999), lasts(91, lots))},
	{"Nothing with more than a million views or longer than 20 minutes", anyOf(views(1000001, lots), lasts(1201, lots))},
	{"English videos with over 1,000 likes only", anyOf(foreign("en"), likes(0, 1000))},
	{"drop whatever has neither 1000 views nor 100 likes", both(views(0, 999), likes(0, 99))},
}

// videosOfTheData are the real videos, of each file those that a stride leaves.
func videosOfTheData(t *testing.T) (all []seenVideo) {
	t.Helper()
	dir := sharedData(t)
	n := func(s string) int64 {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return -1
		}
		return int64(f)
	}
	table := func(name string, row func(get func(string) string)) {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var in io.Reader = file
		if strings.HasSuffix(name, ".gz") {
			if in, err = gzip.NewReader(file); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := csv.NewReader(in).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int{}
		for i, head := range rows[0] {
			at[head] = i
		}
		for _, r := range rows[1:] {
			row(func(column string) string { return r[at[column]] })
		}
	}
	lines := func(name string, into func(raw []byte)) {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		in, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			into(s.Bytes())
		}
	}
	at := func(layout, s string) time.Time {
		when, err := time.Parse(layout, s)
		if err != nil && s != "" {
			t.Fatal(err)
		}
		return when
	}
	table("tiktok_dk_run2_2026-03-30.csv", func(get func(string) string) {
		all = append(all, seenVideo{"tiktok", strings.ToLower(get("tiktok_handle")), get("beskrivelse"), nil, n(get("visninger")), n(get("likes")), n(get("kommentarer")), -1, -1, at(time.DateOnly, get("upload_dato")), ""})
	})
	table("youtube_tech_run2_2026-02-04.csv", func(get func(string) string) {
		long, err := time.ParseDuration(strings.ToLower(strings.NewReplacer("PT", "", "P0D", "0s", "P1DT", "24h").Replace(get("duration_iso8601"))))
		if err != nil {
			long = 0
		}
		all = append(all, seenVideo{"youtube", strings.ToLower(get("channel_title")), get("title"), nil, n(get("view_count")), n(get("like_count")), n(get("comment_count")), int64(long.Seconds()), -1, at(time.RFC3339, get("published_at")), ""})
	})
	table("instagram_reels_one_creator.csv", func(get func(string) string) {
		all = append(all, seenVideo{"instagram", "", get("Caption"), nil, n(get("InstagramPlays")), n(get("InstagramLikes")), n(get("InstagramComments")), n(get("Duration")), -1, at("Jan 2, 2006 3:04 pm", get("Upload Timestamp")), ""})
	})
	number := 0
	table("tiktok_creators_2020.csv.gz", func(get func(string) string) {
		if number++; number%8 > 0 {
			return
		}
		tags := strings.FieldsFunc(get("hashtags"), func(r rune) bool { return strings.ContainsRune("[]', ", r) })
		all = append(all, seenVideo{"tiktok", strings.ToLower(get("user_name")), "", tags, n(get("n_plays")), n(get("n_likes")), n(get("n_comments")), n(get("video_length")), n(get("n_followers")), time.Unix(n(get("create_time")), 0).UTC(), ""})
	})
	lines("tiktok_trending_2020-12.jsonl.gz", func(raw []byte) {
		var v struct {
			Text                               string
			CreateTime                         int64
			AuthorMeta                         struct{ Name string }
			VideoMeta                          struct{ Duration int64 }
			DiggCount, PlayCount, CommentCount int64
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, seenVideo{"tiktok", strings.ToLower(v.AuthorMeta.Name), v.Text, nil, v.PlayCount, v.DiggCount, v.CommentCount, v.VideoMeta.Duration, -1, time.Unix(v.CreateTime, 0).UTC(), ""})
	})
	lines("youtube_shorts_series_videos.jsonl.gz", func(raw []byte) {
		var v struct{ Title, Desc, Channel, PublishedAt, Dur string }
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		minutes, seconds, _ := strings.Cut(v.Dur, ":")
		all = append(all, seenVideo{"youtube", strings.ToLower(v.Channel), v.Title + "\n" + v.Desc, nil, -1, -1, -1, 60*n(minutes) + n(seconds), -1, at(time.RFC3339, v.PublishedAt), ""})
	})
	return all
}

// TestDropsOfPlainRules holds what clear rules drop of real videos against what a person
// who filters the same table by hand would. An unclear rule drops nothing and is counted.
// The predicates are cruder than the rules: they know no French word for unboxing, and no
// language of a caption of few words. Of 44 drops of two language rules that they call
// wrong, drawn at random, a reader called none wrong.
func TestDropsOfPlainRules(t *testing.T) {
	t.Parallel()
	all := videosOfTheData(t)
	seen := make([]*facts.Facts, len(all)) // once, and not for each rule
	for i, v := range all {
		all[i].language = tongue(v)
		seen[i] = facts.Of(v.record(), read)
	}
	var sum, other tallied
	var precision, recall float64
	clear, unclear, exact, measured := 0, 0, 0, 0
	for _, tt := range plainRules {
		p := Compile(stage.Run{Now: read.UnixMilli(), Rules: []stage.Rule{{Text: tt.rule}}})
		var c tallied
		for i, v := range all {
			dropped := slices.ContainsFunc(p.groups, func(g group) bool { return g.drops(seen[i], nil) != nil })
			c.count(dropped, tt.drop != nil && tt.drop(v))
		}
		switch {
		case len(p.Unclear) > 0 && c.right+c.wrong > 0:
			t.Errorf("%q is unclear and drops %d videos, want none", tt.rule, c.right+c.wrong)
		case len(p.Unclear) > 0:
			unclear++
			t.Logf("unclear: %q", tt.rule)
			continue
		case tt.drop == nil:
			t.Errorf("%q is read as\n%s, want it unclear", tt.rule, explained(p))
			continue
		}
		clear++
		t.Logf("%q: %v\n%s", tt.rule, c, explained(p))
		sum.right, sum.wrong, sum.missing = sum.right+c.right, sum.wrong+c.wrong, sum.missing+c.missing
		if !slices.ContainsFunc(p.Checks, func(c Check) bool { return !c.exact() }) {
			exact++
		} else {
			other.right, other.wrong, other.missing = other.right+c.right, other.wrong+c.wrong, other.missing+c.missing
		}
		if c == (tallied{}) {
			continue // it says nothing of how rules drop
		}
		measured++
		precision, recall = precision+c.precision(), recall+c.recall()
		if c.right+c.wrong > len(all)*99/100 && c.wrong > len(all)/10 {
			t.Errorf("%q drops everything unasked", tt.rule)
		}
	}
	precision, recall = precision/float64(measured), recall/float64(measured)
	t.Logf("%d clear, %d unclear over %d videos: micro %v; macro precision %.3f, recall %.3f over the %d that drop anything", clear, unclear, len(all), sum, precision, recall, measured)
	t.Logf("the %d that compare words or languages: micro %v", clear-exact, other)
	if least := 0.9; sum.precision() < least || sum.recall() < least || precision < least || recall < least {
		t.Errorf("precision and recall are below %.1f", least)
	}
}
