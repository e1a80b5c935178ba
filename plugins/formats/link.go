package formats

import (
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// link is what an address of a platform names.
type link struct {
	platform string
	kind     linkKind
	// id of a video; empty for other kinds.
	id string
	// handle of the creator, without @, if the address has it.
	handle string
	// creator is the platform's id of the creator, if the address has it.
	creator string
	// address is the address in full.
	address string
	// led says that it was in the address of another site, which only leads to it.
	led bool
}

type linkKind int

const (
	noLink linkKind = iota
	videoLink
	profileLink
	// photoLink is a post of photos, a story, or a page of a platform that is no video.
	photoLink
	// shortLink leads to a video that only its platform knows.
	shortLink
)

// readLink reads an address of a platform, with or without its scheme, also in a formula of a
// spreadsheet. Anything else is noLink.
func readLink(text string) link {
	if strings.IndexByte(text, '/') < 0 {
		return link{}
	}
	text = strings.TrimSpace(shownLetters(text))
	if strings.HasPrefix(text, "/watch?v=") || strings.HasPrefix(text, "/shorts/") { // as YouTube's pages have them
		text = "www.youtube.com" + text
	}
	if at := strings.Index(text, "http"); at > 0 {
		text = text[at:] // =HYPERLINK("https://…"; "…")
	}
	if end := strings.IndexAny(text, "\" \t\n'<>)]"); end > 0 {
		text = text[:end]
	}
	if len(text) < 9 || len(text) > 2048 || !strings.ContainsRune(text, '.') {
		return link{}
	}
	if !strings.Contains(text, "://") {
		text = "https://" + strings.TrimPrefix(text, "//")
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" {
		return link{}
	}
	host := strings.ToLower(at.Hostname())
	parts := strings.FieldsFunc(at.Path, func(r rune) bool { return r == '/' })
	found := link{address: text}
	switch site, short := platforms.OfHost(host); {
	case site == platforms.TikTok:
		found.tiktok(parts, short)
	case site == platforms.YouTube:
		found.youtube(at, parts, short)
	case platforms.Serving(host) == platforms.Instagram: // its paths have no sign of their own
		found.instagram(parts)
	}
	if found.kind == noLink {
		if to := redirected(at, host); to != "" {
			found = readLink(to)
			found.led = true
			return found
		}
		platform, account := platforms.Account(host, parts)
		isChannel := len(parts) > 0 && parts[0] == "channel"
		if account == "" || len(parts) > 3 || isChannel && !strings.HasPrefix(account, "UC") {
			return link{}
		}
		found.kind, found.platform, found.handle = profileLink, platform, account
		if isChannel {
			found.handle, found.creator = "", account
		}
	}
	return found
}

// redirected is where an address of a site leads that only leads on, as in texts copied out of mails, chats and
// search results, or that keeps copies of pages; empty for any other.
func redirected(at *url.URL, host string) string {
	switch host = strings.TrimPrefix(host, "www."); {
	case host == "web.archive.org":
		if from := strings.Index(at.Path, "/http"); from > 0 {
			return strings.TrimLeft(at.Path[from:], "/") + "?" + at.RawQuery
		}
	case strings.HasPrefix(host, "google.") && at.Path == "/url", host == "l.instagram.com", host == "youtube.com" && at.Path == "/redirect", strings.HasSuffix(host, ".safelinks.protection.outlook.com"):
		for _, name := range []string{"q", "url", "u"} {
			if to := at.Query().Get(name); strings.HasPrefix(to, "http") {
				return to
			}
		}
	}
	return ""
}

func part(parts []string, at int) string {
	if at < len(parts) {
		return parts[at]
	}
	return ""
}

func (l *link) tiktok(parts []string, short bool) {
	l.platform = "tiktok"
	first := part(parts, 0)
	name, named := strings.CutPrefix(first, "@")
	switch {
	case short && first != "", first == "t" && len(parts) > 1:
		l.kind = shortLink
	case named && part(parts, 1) == "video" && allDigits(part(parts, 2)):
		l.kind, l.id, l.handle = videoLink, parts[2], name
	case named && (part(parts, 1) == "photo" || part(parts, 1) == "live" || part(parts, 1) == "playlist"):
		l.kind, l.handle = photoLink, name
	case (first == "v" || first == "video" || first == "embed" || first == "player") && allDigits(strings.TrimSuffix(part(parts, len(parts)-1), ".html")):
		l.kind, l.id = videoLink, strings.TrimSuffix(parts[len(parts)-1], ".html")
	case first == "share" && part(parts, 1) == "video" && allDigits(part(parts, 2)):
		l.kind, l.id = videoLink, parts[2]
	}
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (l *link) youtube(at *url.URL, parts []string, short bool) {
	l.platform = "youtube"
	first := part(parts, 0)
	id := ""
	switch {
	case short:
		id = first
	case first == "watch":
		if id = at.Query().Get("v"); id == "" {
			id = part(parts, 1)
		}
	case slices.Contains([]string{"shorts", "live", "embed", "v", "e", "video"}, first):
		id = part(parts, 1)
	case first == "playlist" || first == "post" || first == "hashtag" || first == "results":
		l.kind = photoLink
	}
	if youtubeID(id) {
		l.kind, l.id = videoLink, id
	}
}

func (l *link) instagram(parts []string) {
	l.platform = "instagram"
	for i, kind := range parts[:min(2, len(parts))] {
		if !slices.Contains([]string{"p", "reel", "reels", "tv"}, kind) || part(parts, i+1) == "" || kind == "reels" && parts[i+1] == "audio" {
			continue
		}
		if i == 1 && parts[0] == "share" {
			l.kind = shortLink
			return
		}
		if code := parts[i+1]; instagramCode(code) {
			l.kind, l.id = videoLink, code
			if i == 1 {
				l.handle = parts[0]
			}
		}
		return
	}
	switch first := part(parts, 0); {
	case first == "share":
		l.kind = shortLink
	case first == "stories":
		l.kind, l.handle = photoLink, part(parts, 1)
	}
}

// youtubeID reports an id in YouTube's form: 11 letters, digits, hyphens and underscores.
func youtubeID(id string) bool { return len(id) == 11 && webLetters(id) }

// instagramCode reports a shortcode of Instagram; those of private posts are longer.
func instagramCode(id string) bool {
	return len(id) >= 5 && len(id) <= 50 && webLetters(id)
}

func webLetters(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

// platformWords are names of platforms as people write them, folded.
var platformWords = map[string]string{
	"tiktok": "tiktok", "tt": "tiktok", "tiktokcom": "tiktok", "wwwtiktokcom": "tiktok", "douyin": "douyin",
	"youtube": "youtube", "yt": "youtube", "youtubeshorts": "youtube", "ytshorts": "youtube", "shorts": "youtube", "youtubecom": "youtube", "wwwyoutubecom": "youtube", "youtubevideo": "youtube", "youtubeshort": "youtube",
	"instagram": "instagram", "ig": "instagram", "insta": "instagram", "instagramreels": "instagram", "instagramreel": "instagram", "igreels": "instagram", "reels": "instagram", "reel": "instagram", "igreel": "instagram", "instagramcom": "instagram", "wwwinstagramcom": "instagram", "instareels": "instagram",
}

// platformOf is the platform that a text names; empty if it can name none.
func platformOf(text string) string {
	if exact := platformName(text); ownIDs(exact) {
		return exact
	}
	if known := platformWords[foldName(text)]; known != "" {
		return known
	}
	if strings.ContainsAny(text, "_ -") {
		tokens := nameTokens(text)
		if known := platformWords[part(tokens, 0)]; known != "" && !slices.ContainsFunc(tokens[1:], func(token string) bool { return !accountKinds[token] }) {
			return known
		}
	}
	return platformName(text)
}

// accountKinds follow the name of a platform where a program names what kind of account it is of: INSTAGRAM_BUSINESS.
var accountKinds = wordSet("business creator account profile channel page video videos reels shorts feed post")
