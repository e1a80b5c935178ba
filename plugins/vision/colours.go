package vision

import (
	"cmp"
	"slices"
)

// grid is the width and height of the copies that colours are counted in.
const grid = 32

// Colour is a part of the picture.
type Colour struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// minShare of the picture makes a colour worth naming; maxColours are named.
const (
	minShare   = 0.1
	maxColours = 3
)

// colours counts the pixels of RGB frames by the names that people use.
func colours(pixels []byte) []Colour {
	counts := map[string]int{}
	total := len(pixels) / 3
	for i := range total {
		counts[colourName(pixels[3*i], pixels[3*i+1], pixels[3*i+2])]++
	}
	all := []Colour{}
	for name, n := range counts {
		if part := float64(n) / float64(total); part >= minShare {
			all = append(all, Colour{name, round(part, 2)})
		}
	}
	slices.SortFunc(all, func(a, b Colour) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), maxColours)]
}

// hues end where the next begins, in degrees.
var hues = []struct {
	below float64
	name  string
}{
	{15, "red"}, {42, "orange"}, {70, "yellow"}, {165, "green"}, {200, "teal"}, {255, "blue"}, {290, "purple"}, {340, "pink"}, {361, "red"},
}

func colourName(r, g, b byte) string {
	most, least := float64(max(r, g, b)), float64(min(r, g, b))
	span := most - least
	switch {
	case most < 45:
		return "black"
	case span < 0.15*most && most > 215:
		return "white"
	case span < 0.15*most:
		return "grey"
	}
	var hue float64
	switch byte(most) {
	case r:
		hue = 60 * (float64(g) - float64(b)) / span
	case g:
		hue = 60*(float64(b)-float64(r))/span + 120
	default:
		hue = 60*(float64(r)-float64(g))/span + 240
	}
	if hue < 0 {
		hue += 360
	}
	for _, one := range hues {
		if hue < one.below {
			if one.name == "orange" && most < 150 {
				return "brown"
			}
			return one.name
		}
	}
	return "red"
}
