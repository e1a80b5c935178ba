package vision

import (
	"fmt"
	"strconv"
	"strings"
)

// Summary says the facts in a sentence.
func (f Facts) Summary() string {
	said := []string{f.shots(), f.motion() + ", " + f.light()}
	if names := f.names(); names != "" {
		said = append(said, "mostly "+names)
	}
	return strings.Join(said, "; ") + "."
}

func (f Facts) shots() string {
	seconds := strconv.FormatFloat(f.Seconds, 'f', 1, 64) + " s"
	if len(f.Cuts) == 0 {
		return "One shot in the first " + seconds
	}
	at := make([]string, len(f.Cuts))
	for i, cut := range f.Cuts {
		at[i] = strconv.FormatFloat(cut, 'f', 1, 64)
	}
	word := "cut"
	if len(at) > 1 {
		word = "cuts"
	}
	return fmt.Sprintf("%d shots in the first %s, %s at %s s", f.Shots, seconds, word, list(at))
}

func (f Facts) motion() string {
	switch {
	case f.Motion < 0.004:
		return "almost still"
	case f.Motion < 0.02:
		return "little motion"
	case f.Motion < 0.05:
		return "some motion"
	}
	return "much motion"
}

func (f Facts) light() string {
	light := "of medium brightness"
	switch {
	case f.Brightness < 0.3:
		light = "dark"
	case f.Brightness > 0.7:
		light = "bright"
	}
	switch {
	case f.Contrast < 0.2:
		return light + " with little contrast"
	case f.Contrast > 0.6:
		return light + " with strong contrast"
	}
	return light
}

func (f Facts) names() string {
	names := make([]string, len(f.Colours))
	for i, colour := range f.Colours {
		names[i] = colour.Name
	}
	return list(names)
}

// list is a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
