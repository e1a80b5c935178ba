package scrolls

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The kinds of seeds.
const (
	own        = "own"
	competitor = "competitor"
	niche      = "niche"
)

// seeds are where the sources of a template start to look.
func seeds(brief stage.Brief, rules []stage.Rule, prompt string, template Template, terms int) []stage.Seed {
	var all []stage.Seed
	add := func(seed stage.Seed) {
		if !template.wants(seed.Kind) {
			return
		}
		seed.Limit = template.SeedLimit
		if seed.Text() != "" && !slices.ContainsFunc(all, seed.Same) {
			all = append(all, seed)
		}
	}
	if seed, ok := profile(brief.Website); ok {
		seed.Kind = own
		add(seed)
	}
	if !slices.ContainsFunc(all, func(s stage.Seed) bool { return s.Kind == own }) && brief.Name != "" {
		add(stage.Seed{Kind: own, Term: brief.Name})
	}
	for _, text := range brief.Competitors {
		seed := rival(text)
		seed.Kind = competitor
		add(seed)
	}
	for _, term := range keywords(brief, rules, prompt, terms) {
		add(stage.Seed{Kind: niche, Term: term})
	}
	return all
}

// rival reads a competitor as people write it: a handle, the address of a profile
// or of a site, or a name.
func rival(text string) stage.Seed {
	text = strings.TrimSpace(text)
	if seed, ok := profile(text); ok {
		return seed
	}
	if platform, handle, ok := strings.Cut(text, ":"); ok && slices.Contains(platforms(), strings.ToLower(platform)) {
		return stage.Seed{Platform: strings.ToLower(platform), Handle: bare(handle)}
	}
	if handle, ok := strings.CutPrefix(text, "@"); ok {
		return stage.Seed{Handle: bare(handle)}
	}
	if host := host(text); host != "" {
		return stage.Seed{Term: siteName(host)}
	}
	if handleForm().MatchString(text) {
		return stage.Seed{Handle: text}
	}
	return stage.Seed{Term: text}
}

func platforms() []string { return []string{"tiktok", "youtube", "instagram"} }

func handleForm() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN._-]{2,60}$`) }

// bare is a handle without what is around it.
func bare(handle string) string { return strings.TrimLeft(strings.TrimSpace(handle), "@") }

// profile reads the address of a profile. Nothing is fetched.
func profile(text string) (seed stage.Seed, ok bool) {
	address, err := url.Parse(withScheme(text))
	if err != nil {
		return seed, false
	}
	var first, second string
	for part := range strings.SplitSeq(address.Path, "/") {
		switch {
		case part == "":
		case first == "":
			first = part
		case second == "":
			second = part
		}
	}
	switch site := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(address.Hostname()), "www."), "m."); {
	case site == "tiktok.com" && strings.HasPrefix(first, "@"):
		seed = stage.Seed{Platform: "tiktok", Handle: bare(first)}
	case site == "youtube.com" && strings.HasPrefix(first, "@"):
		seed = stage.Seed{Platform: "youtube", Handle: bare(first)}
	case site == "youtube.com" && slices.Contains([]string{"c", "user", "channel"}, first):
		seed = stage.Seed{Platform: "youtube", Handle: bare(second)}
	case site == "instagram.com" && !slices.Contains([]string{"", "p", "reel", "reels", "explore", "tv", "stories"}, first):
		seed = stage.Seed{Platform: "instagram", Handle: bare(first)}
	}
	return seed, seed.Handle != ""
}

func withScheme(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
	return "https://" + text
}

// host is the host of an address or a bare domain; empty for anything else.
func host(text string) string {
	if strings.ContainsAny(text, " \t\n") {
		return ""
	}
	address, err := url.Parse(withScheme(text))
	if err != nil {
		return ""
	}
	name := strings.ToLower(address.Hostname())
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot < 3 || strings.ContainsFunc(name[dot+1:], func(c rune) bool { return c < 'a' || c > 'z' }) {
		return ""
	}
	// A dotted handle looks like a domain; a site is one that says so or has a common ending.
	known := strings.Fields("com org net io co app dev ai shop store me tv info biz eu uk de fr es it nl dk se no fi pl pt at ch ie ca au nz jp kr in br mx us")
	if strings.Contains(text, "://") || slices.Contains(known, name[dot+1:]) {
		return name
	}
	return ""
}

// siteName is what a site is called: the label before its public ending.
func siteName(host string) string {
	labels := strings.Split(strings.TrimPrefix(host, "www."), ".")
	at := len(labels) - 2
	if at > 0 && len(labels[at]) <= 3 && slices.Contains(strings.Fields("co com org net ac gov edu"), labels[at]) {
		at--
	}
	return labels[at]
}
