package browser_test

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// sided has twelve videos of its own and thirty of three competitors, each read twice.
func sided(t *testing.T, running *apptest.Running) *apptest.Caller {
	t.Helper()
	account := prepared(t, running)
	now := time.Now()
	var early, late []string
	line := func(kind string, i int, handle, spoken string, posted, read time.Time, views int) string {
		return fmt.Sprintf(`{"platform":"tiktok","externalId":"%s%d","postedAt":%d,"source":{"kind":%q,"handle":%q,"creatorId":%q},"metadata":{"caption":"%s take %d"},"metrics":{"views":%d,"likes":%d,"observedAt":%d},"evidence":{"spoken":%q}}`,
			kind, i, posted.UnixMilli(), kind, handle, handle, handle, i, views, views/15, read.UnixMilli(), spoken)
	}
	texts := []string{"Why does my moka pot drip so slowly today?", "These 3 grinders changed how I brew coffee every day", "My slow morning with a moka pot and good beans"}
	video := func(kind string, i int, handle, spoken string, days float64, views int) {
		posted := now.Add(-time.Duration(days * 24 * float64(time.Hour)))
		early = append(early, line(kind, i, handle, spoken, posted, posted.Add(12*time.Hour), views/3))
		late = append(late, line(kind, i, handle, spoken, posted, now.Add(-time.Hour), views))
	}
	for i := range 12 {
		video("own", i, "me.brews", texts[min(i/5, 2)], 2+1.5*float64(i), []int{6000, 900}[i%2]+i*i*37) // five questions, five numbers, two others
	}
	for i := range 30 {
		video("competitor", i, fmt.Sprintf("rival.%d", i%3), texts[min(i/13, 2)%3], 1.3+float64(i)/3, 1000+i*(i%7)*91) // thirteen, thirteen, four
	}
	for i := range 7 { // one's own is long, the others are short: they are no comparison
		kind, handle, seconds := "competitor", "rival.0", 30
		if i == 0 {
			kind, handle, seconds = "own", "me.brews", 600
		}
		read := func(at time.Time, views int) string {
			return fmt.Sprintf(`{"platform":"youtube","externalId":"y%d","postedAt":%d,"source":{"kind":%q,"handle":%q},"metadata":{"caption":"On YouTube %d","durationSeconds":%d},"metrics":{"views":%d,"observedAt":%d}}`,
				i, now.Add(-6*24*time.Hour).UnixMilli(), kind, handle, i, seconds, views, at.UnixMilli())
		}
		early, late = append(early, read(now.Add(-5*24*time.Hour), 100)), append(late, read(now.Add(-time.Hour), 2000))
	}
	importLines(t, running, account, early)
	importLines(t, running, account, late)
	return account
}

// median of some values, the mean of two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// interval is the shortest from a k-th lowest to a k-th highest value that has the true median with
// at least 90 %, and the exact probability, counted over all 2ⁿ outcomes.
func interval(values []float64) (low, high, coverage float64) {
	sorted, n := slices.Sorted(slices.Values(values)), len(values)
	for k := n / 2; k >= 1; k-- {
		inside := new(big.Int)
		for below := k; below <= n-k; below++ {
			inside.Add(inside, new(big.Int).Binomial(int64(n), int64(below)))
		}
		part, _ := new(big.Rat).SetFrac(inside, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
		if part >= 0.9 {
			return sorted[k-1], sorted[n-k], part
		}
	}
	return math.NaN(), math.NaN(), 0
}

// numbers are those of a text, as English writes them.
func numbers(t *testing.T, text string) (all []float64) {
	t.Helper()
	for _, found := range regexp.MustCompile(`\d[\d,]*(\.\d+)?`).FindAllString(text, -1) {
		n, err := strconv.ParseFloat(strings.ReplaceAll(found, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// fits looks at the page in both schemes from a phone to a wide screen.
func (b *tab) fits(name string) {
	b.t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		b.scheme(scheme)
		for _, wide := range []int64{390, 820, 2560} {
			b.do("resize", chromedp.EmulateViewport(wide, 844))
			if got := eval[int64](b, `document.documentElement.scrollWidth`); got > wide {
				b.t.Errorf("%s: the page is %d pixels wide on a screen of %d", name, got, wide)
			}
			b.accessible(fmt.Sprintf("%s, %s, %d", name, scheme, wide))
		}
	}
	b.do("wide", chromedp.EmulateViewport(width, height))
}

// TestYouAgainstThem works out again, from the readings and hooks of the API, what the page says.
func TestYouAgainstThem(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	account := sided(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	b.press("You and them")
	b.until(`document.querySelector('main canvas') && document.querySelectorAll('main table').length > 1 && !document.querySelector('main .loading')`)
	b.check("compare")
	rows := func(card string) [][]string {
		t.Helper()
		return eval[[][]string](b, `(() => { const of = [...document.querySelectorAll('main .card')].find((e) => e.querySelector('h2')?.innerText === `+quoted(card)+`);
			return [...[...of.querySelectorAll('table')].at(-1).querySelectorAll('tbody tr')].map((row) => [...row.children].map((e) => e.innerText)); })()`)
	}

	// Equal age.
	type curve struct {
		caption    string
		posted     float64
		ages, view []float64
	}
	curves := func(kind string, most int) (all []curve) {
		var list struct {
			Videos []struct {
				ID       string
				PostedAt float64
				Metadata struct{ Caption string }
			}
		}
		account.Get(t, "GET /v1/library?limit=100&platform=tiktok&kind="+kind, &list)
		for _, v := range list.Videos {
			var read struct {
				Observations []struct{ ObservedAt, Views float64 }
			}
			account.Get(t, "GET /v1/library/observations?videoId="+v.ID, &read)
			c := curve{caption: v.Metadata.Caption, posted: v.PostedAt}
			for _, one := range slices.Backward(read.Observations) { // newest first
				c.ages, c.view = append(c.ages, one.ObservedAt-v.PostedAt), append(c.view, one.Views)
			}
			all = append(all, c)
		}
		slices.SortFunc(all, func(a, b curve) int { return int((b.posted - a.posted) / 1000) })
		return all[:min(most, len(all))]
	}
	shown := rows("Views at equal age")
	if len(shown) != 6 {
		t.Fatalf("got %d of one's own videos at equal age, want the newest 6: %q", len(shown), shown)
	}
	rivals, ahead, told := curves("competitor", 24), 0, 0
	for i, own := range curves("own", 6) {
		age, views := own.ages[1], own.view[1]
		var theirs []float64
		below := 0
		for _, c := range rivals {
			if len(c.ages) == 2 && c.ages[0] <= age && age <= c.ages[1] {
				at := c.view[0] + (c.view[1]-c.view[0])*(age-c.ages[0])/(c.ages[1]-c.ages[0])
				theirs = append(theirs, at)
				if at < views {
					below++
				}
			}
		}
		want := []string{own.caption, "", "", strconv.Itoa(len(theirs)), "too few", "–"}
		if len(theirs) >= 5 {
			told++
			if views > median(theirs) {
				ahead++
			}
			got := numbers(t, shown[i][4]+" "+shown[i][5])
			if len(got) != 4 || math.Abs(got[0]-median(theirs)) > 0.51 || math.Abs(got[1]-views/median(theirs)) > 0.0051 || got[2] != float64(below) || got[3] != float64(len(theirs)) {
				t.Errorf("%s: the page says %q, want the median %v, %v times it, above %d of %d", own.caption, shown[i], median(theirs), views/median(theirs), below, len(theirs))
			}
			want[4], want[5] = shown[i][4], shown[i][5]
		}
		if shown[i][0] != want[0] || shown[i][3] != want[3] || shown[i][4] != want[4] || shown[i][5] != want[5] {
			t.Errorf("got the row %q, want %q", shown[i], want)
		}
		if got := numbers(t, shown[i][2]); len(got) != 1 || got[0] != views {
			t.Errorf("%s: the page says %q views, want %v", own.caption, shown[i][2], views)
		}
	}
	if told < 3 || told == 6 {
		t.Errorf("%d of 6 videos have 5 to compare with, want some with and some without", told)
	}
	b.sees(fmt.Sprintf("%d of %d of your newest videos", ahead, told))

	eval[bool](b, `(() => { const e = document.querySelector('main .card select'); e.value = 'youtube_long'; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
	b.until(`document.querySelector('main tbody tr th')?.innerText.includes('On YouTube 0')`)
	if got := rows("Views at equal age"); len(got) != 1 || got[0][3] != "0" || got[0][4] != "too few" {
		t.Errorf("got %q for a long video on YouTube, want nothing of short ones", got)
	}

	// Patterns.
	patterns := rows("What each way to begin earned here")
	if len(patterns) != 5 {
		t.Fatalf("got the patterns %q, want four and none", patterns)
	}
	for side, kind := range []string{"own", "competitor"} {
		var list struct {
			Hooks []struct {
				Spoken string
				Score  *float64
			}
		}
		account.Get(t, "GET /v1/hooks/list?limit=100&kind="+kind, &list)
		scores := map[string][]float64{}
		for _, h := range list.Hooks {
			name := ""
			switch {
			case strings.Contains(h.Spoken, "?"):
				name = "Opens with a question"
			case strings.Contains(h.Spoken, "3"):
				name = "Number in the first words"
			}
			if h.Score != nil {
				scores[name] = append(scores[name], *h.Score)
			}
		}
		for _, row := range patterns {
			name := row[0]
			if name == "None of these" {
				name = ""
			}
			values, text := scores[name], row[2+2*side]
			if row[1+2*side] != strconv.Itoa(len(values)) {
				t.Errorf("%s of %s: the page counts %s, want %d", row[0], kind, row[1+2*side], len(values))
			}
			if len(values) < 5 {
				if text != "too few" {
					t.Errorf("%s of %s: the page says %q of %d, want that they are too few", row[0], kind, text, len(values))
				}
				continue
			}
			low, high, coverage := interval(values)
			got := numbers(t, text)
			if len(got) != 4 || math.Abs(got[0]-median(values)) > 0.0051 || math.Abs(got[1]-low) > 0.0051 || math.Abs(got[2]-high) > 0.0051 || math.Abs(got[3]-100*coverage) > 0.051 {
				t.Errorf("%s of %s: the page says %q of %v, want %v (%v–%v, %v)", row[0], kind, text, values, median(values), low, high, coverage)
			}
		}
		if len(scores["Opens with a question"]) < 5 {
			t.Errorf("%s: got the scores %v, want 5 questions at least", kind, scores)
		}
	}

	// Posting times: each video counts once, by day and by hour.
	for _, title := range []string{"Days of posting, in UTC: You", "Days of posting, in UTC: Competitors", "Hours of posting, in UTC: You", "Hours of posting, in UTC: Competitors"} {
		want := map[bool]int{true: 13, false: 36}[strings.HasSuffix(title, "You")]
		figure := `[...document.querySelectorAll('main .figure-box')].find((e) => e.querySelector('[role=img]').ariaLabel.startsWith(` + quoted(title+". ") + `))`
		eval[bool](b, figure+`.querySelector('.twin summary').click(), true`)
		b.until(figure + `.querySelector('.twin[open] tbody tr')`)
		sum, counts := 0, eval[[]int](b, `[...`+figure+`.querySelectorAll('.twin tbody tr')].map((e) => parseInt(e.lastElementChild.innerText))`)
		for _, n := range counts {
			sum += n
		}
		if len(counts) < 7 || sum != want {
			t.Errorf("%s: got %d videos in %d rows, want %d", title, sum, len(counts), want)
		}
	}
	b.fits("compare")
	b.german()
	b.sees("Aufrufe im gleichen Alter")

	// Without a video of one's own it says what to do.
	other := launch(t).tab(t, running.BaseURL)
	other.signIn(bearing(t, running, "theirs alone").Key, false)
	other.open("/console/compare")
	other.sees("The library knows no videos of your own")
	other.sees("too few")
	other.check("compare-none")
	other.german()
	other.sees("Die Bibliothek kennt keine eigenen Videos von Ihnen")
}
