package formats

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// creatorKey is the creator that the name of a member says, as in `{"@a.example": [{…}, {…}]}`.
type creatorKey struct {
	handle, creator string
	// platform is that of an address; empty for others.
	platform string
	// word is a name that may be a handle or a word. It is taken for none, and noted.
	word string
}

// fill gives a video the creator whom its place names, unless it names one itself.
func (k creatorKey) fill(out *results, rec *stage.Record) {
	page := readLink(rec.SourceURL)
	if rec.Source != nil && rec.Source.Handle != "" || page.handle != "" && !sameHandle(page.handle, k.handle) || k.platform != "" && k.platform != rec.Platform {
		return
	}
	switch {
	case k.handle != "":
		if rec.Source == nil {
			rec.Source = &stage.Source{}
		}
		rec.Source.Handle = k.handle
	case k.creator != "" && rec.CreatorID == "":
		rec.CreatorID = k.creator
	case k.word != "":
		out.report.formOnce("names of members that may be handles or other words are not taken for handles", ", such as %q: an @ before them makes them handles", k.word)
		return
	default:
		return
	}
	out.report.form("creators by the names of the members that hold their videos, where a video names none")
}

func sameHandle(a, b string) bool {
	return strings.EqualFold(strings.TrimPrefix(a, "@"), strings.TrimPrefix(b, "@"))
}

var (
	// creatorPlaces end the name of a member whose members are named after creators.
	creatorPlaces = wordSet("creator creators account accounts user users username usernames profile profiles channel channels handle handles author authors influencer influencers")
	// foreignPlaces are in the name of a member whose videos are about a creator, or liked by one, and not their own.
	foreignPlaces = wordSet("mention mentions mentioned mentioning tag tags tagged collab collabs collaborations duet duets stitch stitches repost reposts reposted like likes liked save saved saves " +
		"favorite favorites favourites bookmark bookmarks comment comments commenter commenters reply replies follower followers following friends search searches query queries keyword keywords term terms hashtag hashtags related similar recommended suggested")
	// plainPlaces are all that is in the name of a member between a creator and the videos.
	plainPlaces = wordSet("streams result hits edges nodes node docs documents rows records list reels shorts tiktoks output results videos posts items entries data media video post reel item aweme feed latest recent all top uploads content")
	// noHandles are names with an @ in JSON-LD, in JSON out of XML and in logs, and those of nobody.
	noHandles = wordSet("context graph type id value list set language base vocab container reverse index included nest none json direction attributes attr attrs text cdata comment timestamp version message metadata fields tags xmlns ref " +
		"all everyone here me unknown null undefined default total username handle")
)

// creatorsOf are the creators whom the names of some members say, behind a path of names: those with an @, addresses
// of profiles, and ids of channels where the place is named as one of creators. Without an @, a name may be that of a
// country, a month or a kind of video: it is noted alone. known reports a name that has another meaning.
func creatorsOf(members []member, path []string, known func(string) bool) map[string]creatorKey {
	named := len(path) > 0 && creatorPlace(path[len(path)-1])
	if !named && !slices.ContainsFunc(members, func(m member) bool {
		return strings.HasPrefix(m.name, "@") || strings.Contains(m.name, "/") && readLink(m.name).kind == profileLink
	}) {
		return nil
	}
	if slices.ContainsFunc(path, foreignPlace) {
		return nil
	}
	found := map[string]creatorKey{}
	var plain []string
	for _, m := range members {
		name, signed := strings.CutPrefix(m.name, "@")
		switch l := readLink(m.name); {
		case l.kind == profileLink:
			found[m.name] = creatorKey{handle: strings.TrimPrefix(l.handle, "@"), creator: l.creator, platform: l.platform}
		case l.kind != noLink, signed && (noHandles[foldName(name)] || strings.HasPrefix(name, "odata.")):
		case signed && handleOf(name):
			found[m.name] = creatorKey{handle: name}
		case named && strings.HasPrefix(name, "UC") && len(name) == 24 && webLetters(name):
			found[m.name] = creatorKey{creator: name, platform: "youtube"}
		default:
			plain = append(plain, m.name)
		}
	}
	if !named && len(found) == 0 {
		return nil
	}
	for _, name := range plain {
		if handleOf(name) && !known(name) && !creatorPlace(name) && !foreignPlace(name) {
			found[name] = creatorKey{word: name}
		}
	}
	return found
}

// creatorPlace reports the name of a member whose members are named after creators.
func creatorPlace(name string) bool {
	tokens := nameTokens(name)
	return len(tokens) > 0 && creatorPlaces[tokens[len(tokens)-1]]
}

// foreignPlace reports the name of a member whose videos are rather of others than those named in or above it.
func foreignPlace(name string) bool {
	return slices.ContainsFunc(nameTokens(name), func(token string) bool { return foreignPlaces[token] })
}

// plainPlace reports the name of a member that may be between a creator and the videos.
func plainPlace(name string) bool {
	return !slices.ContainsFunc(nameTokens(name), func(token string) bool { return !plainPlaces[token] && !allDigits(token) })
}

// namesOthers reports a list in which an object names another creator than the member that the list is in.
func (r *reading) namesOthers(raw []byte, handle string) bool {
	is := map[string]bool{}
	list := &object{parser: &r.parser, members: map[string]jsontext.Value{"": raw}}
	for _, o := range list.objects("") {
		others := false
		flatten(o, "", 2, func(path, value string) {
			if _, had := is[path]; !had {
				m, _ := r.tables.words().of(path)
				is[path] = m.field == "handle"
			}
			name := strings.TrimPrefix(strings.TrimSpace(value), "@")
			if l := readLink(value); strings.HasPrefix(value, "http") && l.handle != "" {
				name = l.handle
			} else if !is[path] {
				return
			}
			others = others || handleForm(strings.ToLower(name)) && !sameHandle(name, handle)
		})
		if others {
			return true
		}
	}
	return false
}

// handleOf reports a text in the form of handles on any platform. Numbers alone are ids.
func handleOf(name string) bool {
	const most = 40
	return len(name) > 1 && len(name) <= most && strings.Trim(name, ".-") == name && strings.ContainsFunc(name, unicode.IsLetter) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
}
