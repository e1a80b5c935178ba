package plan

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// rival reads a competitor as people write it: a handle, the address of a profile
// or of a site, or a name.
func rival(text string) stage.Seed {
	text = strings.TrimSpace(text)
	if seed, ok := profile(text); ok {
		return seed
	}
	if platform, handle, ok := strings.Cut(text, ":"); ok && slices.Contains(platforms.IDs(), strings.ToLower(platform)) {
		return stage.Seed{Platform: strings.ToLower(platform), Handle: Handle(handle)}
	}
	if handle, ok := strings.CutPrefix(text, "@"); ok {
		return stage.Seed{Handle: Handle(handle)}
	}
	if host := host(text); host != "" {
		return stage.Seed{Term: siteName(host)}
	}
	if handleForm().MatchString(text) {
		return stage.Seed{Handle: text}
	}
	return stage.Seed{Term: text}
}

func handleForm() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN._-]{2,60}$`) }

// Handle returns a handle without spaces and the leading @.
func Handle(handle string) string { return strings.TrimLeft(strings.TrimSpace(handle), "@") }

// profile reads the address of a profile. Nothing is fetched.
func profile(text string) (seed stage.Seed, ok bool) {
	address, err := url.Parse(withScheme(text))
	if err != nil {
		return seed, false
	}
	parts := strings.FieldsFunc(address.Path, func(c rune) bool { return c == '/' })
	seed.Platform, seed.Handle = platforms.Account(strings.ToLower(address.Hostname()), parts)
	seed.Handle = Handle(seed.Handle)
	return seed, seed.Handle != ""
}

func withScheme(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
	return "https://" + text
}

// host returns the host of an address or of a domain, and is empty for anything else.
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
	// A handle with a dot looks like a domain: a site needs a scheme or a common ending.
	known := strings.Fields("com org net io co app dev ai shop store me tv info biz eu uk de fr es it nl dk se no fi pl pt at ch ie ca au nz jp kr in br mx us")
	if strings.Contains(text, "://") || slices.Contains(known, name[dot+1:]) {
		return name
	}
	return ""
}

// siteName returns the name of a site: the label before its public ending.
func siteName(host string) string {
	labels := strings.Split(strings.TrimPrefix(host, "www."), ".")
	at := len(labels) - 2
	if at > 0 && len(labels[at]) <= 3 && slices.Contains(strings.Fields("co com org net ac gov edu"), labels[at]) {
		at--
	}
	return labels[at]
}
