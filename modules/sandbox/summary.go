package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
)

// shown is how many entries of a view a summary names, and excerpt how much of
// creators' text it quotes.
const (
	shown   = 5
	excerpt = 140
)

// summary says in words what a view holds. Text of creators is in quotes.
func summary(name, text string) string {
	var lists struct {
		Hooks []struct {
			Video        video
			Spoken       *string
			OnScreenText *string
		}
		Outliers []struct {
			Video         video
			Score         float64
			BaselineViews *float64
			SampleCount   int
		}
		Status           string
		CompletedScrolls int
		Trends           []struct {
			Label   string
			Metrics struct {
				VideoCount           int
				MedianGrowthMultiple float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &lists); err != nil {
		return fmt.Sprintf("Your %s cannot be read.", name)
	}
	var b strings.Builder
	switch name {
	case "hooks":
		head(&b, "hooks", len(lists.Hooks))
		for _, hook := range lists.Hooks[:min(shown, len(lists.Hooks))] {
			fmt.Fprintf(&b, "\n- %s:%s%s", hook.Video.name(), part("spoken", hook.Spoken), part("on screen", hook.OnScreenText))
		}
	case "outliers":
		head(&b, "outliers", len(lists.Outliers))
		for _, outlier := range lists.Outliers[:min(shown, len(lists.Outliers))] {
			fmt.Fprintf(&b, "\n- %s: %.4g times its baseline, of %d peers", outlier.Video.name(), outlier.Score, outlier.SampleCount)
		}
	default:
		if lists.Status == "insufficient_history" {
			return fmt.Sprintf("Trends take two completed scrolls; there are %d.", lists.CompletedScrolls)
		}
		head(&b, "trends", len(lists.Trends))
		for _, trend := range lists.Trends[:min(shown, len(lists.Trends))] {
			fmt.Fprintf(&b, "\n- %s: %d videos, median growth %.4g", quote(trend.Label), trend.Metrics.VideoCount, trend.Metrics.MedianGrowthMultiple)
		}
	}
	return b.String()
}

// most is the longest list that the library shows at once.
const most = 25

func head(b *strings.Builder, name string, n int) {
	switch {
	case n == 0:
		fmt.Fprintf(b, "There are no %s in your library.", name)
	case n >= most:
		fmt.Fprintf(b, "The first %d %s of your library; the first %d of them:", n, name, shown)
	default:
		fmt.Fprintf(b, "%d %s in your library; the first %d:", n, name, min(n, shown))
	}
}

type video struct {
	ID, Platform string
	Source       *struct{ Handle string }
	Metrics      struct{ Views *float64 }
}

func (v video) name() string {
	name := v.Platform + " " + v.ID
	if v.Source != nil && v.Source.Handle != "" {
		name += " by " + quote(v.Source.Handle)
	}
	if v.Metrics.Views != nil {
		name += fmt.Sprintf(" (%.0f views)", *v.Metrics.Views)
	}
	return name
}

func part(what string, text *string) string {
	if text == nil {
		return ""
	}
	return " " + what + " " + quote(*text)
}

// quote shows a stranger's text as such: in one line, cut, between quotes.
func quote(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if letters := []rune(text); len(letters) > excerpt {
		text = string(letters[:excerpt]) + "…"
	}
	return "“" + text + "”"
}
