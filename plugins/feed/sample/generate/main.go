// Command generate writes the sample library: invented videos of invented
// creators in three successive runs. It always writes the same bytes.
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

type m = map[string]any

// made is one video over all runs.
type made struct {
	line     m
	platform string
	first    int
	views    float64
	growth   float64
	gone     int
	// likes, if set, are all that the video ever gets: its views were bought.
	likes     int64
	followers int64
}

func main() {
	random := rand.New(rand.NewPCG(20260713, 7))
	from, err := load()
	if err != nil {
		log.Fatal(err)
	}
	videos := from.invent(random)
	for run := 1; run <= 3; run++ {
		if err := write(run, videos, rand.New(rand.NewPCG(99, uint64(run)))); err != nil {
			log.Fatal(err)
		}
	}
}

func write(run int, videos []*made, random *rand.Rand) error {
	dir := filepath.Join("sample", fmt.Sprint(run))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "videos.jsonl.gz"))
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	for _, v := range videos {
		if run > v.first {
			v.views *= 1 + (v.growth-1)*(0.7+0.6*random.Float64())
		}
		if run < v.first || (v.gone > 0 && run >= v.gone) {
			continue
		}
		v.line["metrics"] = metrics(v)
		if err := lines.Encode(v.line); err != nil {
			return err
		}
	}
	return errors.Join(packed.Close(), out.Close())
}

func (l library) invent(random *rand.Rand) []*made {
	var videos []*made
	for c, who := range l.Creators {
		for i := range who.Videos {
			v := l.about(random, who, len(videos), rising(c, who.Videos-i, (c*3+i*5+random.IntN(2))%len(l.Topics)))
			switch {
			case i == who.Videos-1 && c%2 == 0:
				v.first = 3
			case i >= who.Videos-2:
				v.first = 2
			}
			if i == 1 && c%3 == 0 {
				v.views *= 9 + 10*random.Float64() // the creator's outlier
			}
			if i == 2 && c == 5 {
				v.gone = 3 // deleted between two runs
			}
			place(random, v, c, who.Videos-i)
			if who.Newest > 0 {
				who.begins(v, who.Videos-i)
			}
			if i == 3 && c == 12 {
				v.views, v.likes = v.views*40, 14 // bought views bring no likes
			}
			if i < 3 && c == 2 { // the same sentence, however it is written down
				delete(v.line, "cues")
				evidence, _ := v.line["evidence"].(m)
				if evidence == nil {
					evidence = m{}
				}
				evidence["spoken"] = []string{"Good morning from the tiny kitchen! One cup,", "Good morning, from the tiny kitchen: one cup", "good morning from the tiny kitchen. one cup"}[i] + " " + fmt.Sprint("number ", i+1, ".")
				v.line["evidence"] = evidence
			}
			videos = append(videos, v)
		}
	}
	for _, o := range l.Odds {
		videos = append(videos, l.dropped(o, len(videos)))
	}
	return videos
}

// place dates the newest videos of a creator; left is 1 for the last. Most post within the
// last week and once in the week before, so that trends have two weeks to compare. Two
// creators have a video of some hours that runs far ahead of its age.
func place(random *rand.Rand, v *made, creator, left int) {
	days := 0.0
	switch left {
	case 1, 2, 3:
		days = 1.2 + random.Float64()*5
	case 4:
		days = 8 + random.Float64()*5
	default:
		return
	}
	if left == 2 && (creator == 3 || creator == 9) {
		days, v.views = 0.3, v.views*4
	}
	v.line["postedDaysAgo"] = math.Round(days*100) / 100
}

// begins makes a video one of a creator who began some weeks ago; left is 1 for the last.
func (c creator) begins(v *made, left int) {
	v.growth = 1.3
	if left == 1 {
		v.views *= c.Newest
	}
	v.line["postedDaysAgo"] = 2.1 + 6.4*float64(left-1)
}

// rising are the topics that creators take up in the last week.
func rising(creator, left, topic int) int {
	switch {
	case left == 3 && creator%2 == 1, left == 2 && creator%4 == 0:
		return 5
	case left <= 2 && creator%3 == 2:
		return 1
	}
	return topic
}

func (l library) about(random *rand.Rand, who creator, number, topic int) *made {
	t := l.Topics[topic]
	n := fmt.Sprint(3 + random.IntN(9))
	fill := func(options []string) string {
		return strings.ReplaceAll(options[random.IntN(len(options))], "{n}", n)
	}
	tags := append([]string{}, t.Tags[:1+random.IntN(len(t.Tags))]...)
	if random.IntN(3) > 0 {
		tags = append(tags, "coffee")
	}
	if random.IntN(4) == 0 {
		tags = append(tags, "fyp")
	}
	metadata := m{"sample": true, "caption": fill(t.Captions) + " #" + strings.Join(tags, " #"), "hashtags": tags, "durationSeconds": 12 + random.IntN(48), "language": "en"}
	if who.Platform != "youtube" {
		sound := l.Sounds[(topic+random.IntN(2))%len(l.Sounds)]
		if topic == 1 {
			sound = l.Sounds[1]
		}
		metadata["soundId"], metadata["soundTitle"] = sound.ID, sound.Title
	}
	line := base(who.Platform, who.Handle, number, metadata)
	if who.Kind != "" {
		line["source"].(m)["kind"] = who.Kind
	}
	line["postedDaysAgo"] = math.Round((9+random.Float64()*170)*100) / 100
	hook(random, line, fill(t.Spoken), fill(t.Screen), t.Visual[random.IntN(len(t.Visual))])
	return &made{line: line, platform: who.Platform, first: 1, growth: t.Growth, views: who.Views * math.Exp(random.NormFloat64()*0.45), followers: who.Followers}
}

func (l library) dropped(o odd, number int) *made {
	var by creator
	for _, who := range l.Creators {
		if who.Handle == o.Creator {
			by = who
		}
	}
	line := base(by.Platform, o.Creator, number, m{
		"sample": true, "caption": o.Caption + " #" + strings.Join(o.Tags, " #"), "hashtags": o.Tags,
		"durationSeconds": o.Seconds, "note": "dropped by the sample rules: " + o.Why,
	})
	line["postedDaysAgo"] = o.Days
	return &made{line: line, platform: by.Platform, first: 1, growth: 1.05, views: float64(o.Views), followers: by.Followers}
}

// base has an address under example.com, which is reserved for examples.
func base(platform, handle string, number int, metadata m) m {
	id := fmt.Sprintf("sample-%04d", number+1)
	return m{
		"platform": platform, "externalId": id, "sourceUrl": "https://example.com/sample/" + platform + "/" + id,
		"creatorId": "sample-" + strings.TrimSuffix(handle, ".example"), "source": m{"handle": handle}, "metadata": metadata,
	}
}

// hook gives most videos what the first seconds say, print and show: some as
// cues and stickers, for the captions stage to read, some ready.
func hook(random *rand.Rand, line m, spoken, screen, visual string) {
	evidence := m{}
	switch random.IntN(6) {
	case 0:
	case 1:
		evidence["spoken"] = spoken
	default:
		line["cues"] = cues(spoken)
	}
	switch random.IntN(5) {
	case 0:
	case 1:
		evidence["onScreenText"] = screen
	default:
		line["stickers"] = []m{{"text": screen, "start": random.IntN(3) * 400}, {"text": "Link to the recipe in the comments", "start": 9000}}
	}
	if random.IntN(3) > 0 {
		evidence["visual"] = m{"summary": visual}
	}
	if len(evidence) > 0 {
		line["evidence"] = evidence
	}
}

// cues are rolling captions: each repeats the last words of the one before.
func cues(spoken string) []m {
	words := strings.Fields(spoken + " Stay until the end for the recipe and the numbers.")
	var out []m
	start := 200
	for from := 0; from < len(words); from += 4 {
		begin := from
		if from > 0 && from%8 == 0 {
			begin = from - 2
		}
		out = append(out, m{"start": start, "end": start + 1400, "text": strings.Join(words[begin:min(from+4, len(words))], " ")})
		start += 1300
	}
	return out
}

// metrics are the counts as the platform would give them.
func metrics(v *made) m {
	round := func(x float64) int64 {
		if v.platform == "tiktok" && x >= 10000 {
			return int64(x/100) * 100
		}
		return int64(x)
	}
	likes := v.views * (0.03 + math.Mod(v.views, 7)/100)
	if v.likes > 0 {
		likes = float64(v.likes)
	}
	out := m{"views": round(v.views), "likes": round(likes), "comments": round(likes / 31), "followers": v.followers}
	switch v.platform {
	case "tiktok":
		out["shares"], out["saves"], out["semantics"] = round(likes/19), round(likes/6), "rounded"
	case "instagram":
		out["shares"] = round(likes / 23)
	}
	return out
}
