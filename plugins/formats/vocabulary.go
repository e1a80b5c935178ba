package formats

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// columnWords are the names of columns, by language and field. The language "" holds
// names of tools and of programs.
//
//go:embed words/columns.json
var columnWords []byte

// vocabulary is what names of columns mean.
type vocabulary struct {
	// means is the meaning of a folded name: a field, or one of the words below.
	means map[string]meaning
	// count are words that may follow a count, such as "views".
	count map[string]bool
	// total are words that name a row of totals.
	total map[string]bool
}

// Meanings of columns that are no field of a video.
const (
	meansTime    = "time"    // a time of the post or of the counts
	meansClock   = "clock"   // the time of day of the post, beside its date
	meansName    = "name"    // a display name, for want of a handle
	meansPlays   = "plays"   // views, by another count
	meansType    = "type"    // what kind of post it is
	meansVideo   = "isVideo" // a yes or no
	meansPhoto   = "isPhoto" // a yes or no
	meansReel    = "reel"    // a kind that says reel of some posts, and post of others
	meansComment = "comment" // only tables of comments have it
	meansIgnored = "ignored" // known, and not kept
)

// meaning is what one name of a column means.
type meaning struct {
	field string
	// rank orders names of the same field: the smaller is the better one.
	rank int
	// languages are those in which it has the meaning; empty for any.
	languages []string
	// or is the field of a count that a name of a time may also mean, such as collected; its values decide.
	or string
}

func readVocabulary() *vocabulary {
	v := &vocabulary{means: map[string]meaning{}, count: map[string]bool{}, total: map[string]bool{}}
	var languages map[string]map[string][]string
	if err := json.Unmarshal(columnWords, &languages); err != nil {
		panic(err) // it is compiled in, and tested
	}
	for _, language := range append([]string{""}, sortedKeys(languages)...) {
		for _, field := range sortedKeys(languages[language]) {
			for rank, word := range languages[language][field] {
				v.add(language, field, foldName(word), rank)
			}
		}
	}
	return v
}

func (v *vocabulary) add(language, field, word string, rank int) {
	switch field {
	case "total":
		v.total[word] = true
		return
	case "views", "likes", "comments", "shares", "saves", meansPlays, "followers":
		v.count[word] = true
	}
	known, ok := v.means[word]
	switch {
	case !ok && language == "":
		v.means[word] = meaning{field: field, rank: rank}
	case !ok:
		v.means[word] = meaning{field: field, rank: 100 + rank, languages: []string{language}}
	case language == "" && known.field != field:
		known.or = field
		v.means[word] = known
	case known.field == field && len(known.languages) > 0:
		known.languages = append(known.languages, language)
		v.means[word] = known
	}
}

// noiseWords stand before or after the word that counts.
var noiseWords = map[string]bool{
	"video": true, "videos": true, "vid": true, "post": true, "posts": true, "media": true, "item": true, "content": true, "clip": true, "reel": true, "reels": true,
	"stats": true, "statistics": true, "statsv2": true, "v2": true, "metrics": true, "public": true, "insights": true, "data": true, "node": true, "num": true, "number": true, "no": true,
	"of": true, "n": true, "nb": true, "count": true, "counts": true, "cnt": true, "ct": true, "tot": true, "total": true, "tiktok": true, "youtube": true, "instagram": true, "yt": true, "ig": true,
	"tt": true, "snippet": true, "details": true, "info": true, "aweme": true, "approx": true, "approximate": true, "raw": true, "the": true, "current": true, "actual": true, "for": true, "latest": true, "lifetime": true, "utc": true,
	"sec": true, "secs": true, "seconds": true, "ms": true, "milliseconds": true, "min": true, "mins": true, "minutes": true, "s": true, "iso": true, "iso8601": true, "unix": true, "text": true, "int": true, "sek": true, "sekunden": true,
	"anzahl": true, "der": true, "numero": true, "cantidad": true, "quantidade": true, "qtd": true, "quantita": true, "nombre": true, "liczba": true, "aantal": true, "antal": true,
	"количество": true, "число": true, "de": true, "di": true, "del": true, "do": true, "da": true, "des": true, "du": true, "delle": true, "dei": true,
	"et": true, "la": true, "les": true, "el": true, "los": true, "gesamt": true, "insgesamt": true, "totales": true, "totale": true, "totaux": true, "totais": true, "totali": true, "totaal": true, "toplam": true, "всего": true, "の数": true, "seg": true, "segundos": true, "secondi": true, "secondes": true, "saniye": true, "seconden": true, "sekundy": true, "сек": true, "секунды": true, "秒": true, "초": true,
}

// creatorWords begin the names of columns about the creator of a video.
var creatorWords = map[string]bool{
	"author": true, "authors": true, "authormeta": true, "authorstats": true, "channel": true, "user": true, "creator": true, "profile": true, "account": true, "owner": true,
	"influencer": true, "uploader": true, "page": true, "sponsor": true, "subscriber": true,
}

// otherWords occur in the names of columns that are no field of a video.
var otherWords = map[string]bool{
	"rate": true, "ratio": true, "percent": true, "percentage": true, "pct": true, "avg": true, "average": true, "mean": true, "median": true, "per": true, "growth": true, "delta": true,
	"change": true, "gained": true, "lost": true, "impressions": true, "reach": true, "watch": true, "revenue": true, "rpm": true, "cpm": true, "thumbnail": true, "avatar": true,
	"dislike": true, "dislikes": true, "music": true, "sound": true, "song": true, "audio": true, "cover": true, "category": true, "rank": true, "score": true, "width": true,
	"height": true, "sentiment": true, "predicted": true, "target": true, "goal": true, "expected": true, "planned": true, "log": true, "normalized": true, "zscore": true, "disabled": true, "enabled": true, "retention": true, "velocity": true,
	"hourly": true, "daily": true, "weekly": true, "monthly": true, "organic": true, "paid": true, "length": true, "has": true, "is": true, "engagement": true,
}

// of is the meaning of a column's name.
func (v *vocabulary) of(name string) (meaning, bool) {
	if m, ok := v.means[foldName(name)]; ok && !strings.ContainsAny(name, "%٪％") {
		return m, true
	}
	if of, kind, ok := strings.Cut(name, ".$"); ok { // MongoDB's way to say the type of a value
		if kind == "oid" {
			return meaning{field: meansIgnored}, true
		}
		return v.of(of)
	}
	for side, end := range []string{"_x", "_y"} { // pandas merged two tables that both had the name
		if base, ok := strings.CutSuffix(name, end); ok && base != "" {
			m, known := v.of(base)
			m.rank += 1 + side
			return m, known
		}
	}
	if m, ok := v.ofWhole(name); ok {
		return m, true
	}
	if parts := sumOf().FindStringSubmatch(name); parts != nil {
		if m, ok := v.of(parts[1]); ok && (m.field == meansPlays || slices.Contains(countFields, m.field)) {
			m.rank += 80
			return m, true
		}
	}
	if parts := numberedName().FindStringSubmatch(name); parts != nil {
		if m, ok := v.of(parts[1]); ok {
			m.rank += 5
			return m, true
		}
	}
	tokens := nameTokens(name)
	if len(tokens) == 0 && strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.So, r) }) {
		return meaning{}, false // an emoji may name a count
	}
	if len(tokens) == 0 || strings.ContainsAny(name, "%٪％") {
		return meaning{field: meansIgnored}, true
	}
	if tokens[0] == "min" && len(tokens) > 1 { // the least of them, and no minutes
		return meaning{field: meansIgnored}, true
	}
	for i, token := range tokens { // what is about the creator, wherever it lies: data.author.uniqueId
		if i > 0 && creatorWords[token] {
			m, ok := v.of(strings.Join(tokens[i:], "_"))
			m.rank += 10
			return m, ok
		}
		if !noiseWords[token] {
			break
		}
	}
	if creatorWords[tokens[0]] {
		switch rest := strings.Join(tokens[1:], ""); {
		case v.means[v.core(tokens[1:])].field == "followers" || v.means[v.core(tokens)].field == "followers" || v.means[together(rest)].field == "followers":
			return meaning{field: "followers", rank: 50}, true
		case rest == "handle" || rest == "username" || rest == "uniqueid":
			return meaning{field: "handle", rank: 50}, true
		}
		return meaning{field: meansIgnored}, true
	}
	core := v.core(tokens)
	m, ok := v.means[core]
	if ok && noiseMay(m.field) {
		m.rank += 50 + len(tokens) // n_likes before n_total_likes
		return m, true
	}
	for _, token := range tokens {
		if otherWords[token] {
			return meaning{field: meansIgnored}, true
		}
	}
	// A word of time beside one of posting: Datum geplaatst.
	rest := slices.DeleteFunc(slices.Clone(tokens), func(token string) bool { return v.means[token].field == meansTime })
	if m := v.means[v.core(rest)]; len(rest) < len(tokens) && (m.field == "postedAt" || m.field == "observedAt") {
		m.rank += 70
		return m, true
	}
	if m := v.linked(tokens); m.field != "" {
		return m, true
	}
	// A word for a handle beside one for the account: Nutzername des Kontos.
	rest = slices.DeleteFunc(slices.Clone(tokens), func(token string) bool { return accountWords[token] || slices.Contains(links, token) })
	if m := v.means[strings.Join(rest, "")]; len(rest) < len(tokens) && m.field == "handle" && len(m.languages) > 0 {
		m.rank += 70
		return m, true
	}
	// Words that are written together: videoplaycount.
	m, ok = v.means[together(foldName(name))]
	if ok && noiseMay(m.field) {
		m.rank += 60
		return m, true
	}
	return meaning{}, false
}

// accountWords name an account, of which a column may have the handle.
var accountWords = wordSet("konto kontos account dell cuenta conta compte hesap konta аккаунта учетной записи 계정 akun rekening")

// links are words between others that one person writes and the next does not: data de postagem, data da postagem.
var links = strings.Fields("de da do di del della du des la van the of")

// linked is the meaning of a name with another link between its words, or none; without a field if none has one.
func (v *vocabulary) linked(tokens []string) meaning {
	for i := 1; i < len(tokens)-1; i++ {
		if !slices.Contains(links, tokens[i]) {
			continue
		}
		before, after := strings.Join(tokens[:i], ""), strings.Join(tokens[i+1:], "")
		for _, link := range append(links, "") {
			if m := v.means[before+link+after]; noiseMay(m.field) {
				m.rank += 70
				return m
			}
		}
	}
	return meaning{}
}

// ofWhole is the meaning of a name of a time with its zone, or of a count with its unit.
func (v *vocabulary) ofWhole(name string) (meaning, bool) {
	if rest, zone := nameZone(name); zone != nil {
		if m, ok := v.of(rest); ok && (m.field == "postedAt" || m.field == "observedAt" || m.field == meansTime) {
			return m, true
		}
	}
	if rest, factor := nameUnit(name); factor > 0 {
		if m, ok := v.of(rest); ok && (m.field == meansPlays || slices.Contains(countFields, m.field)) {
			m.rank++ // after a column of the same count in full
			return m, true
		}
	}
	if rest, day := nameDay(name); day != "" {
		if m, ok := v.of(rest); ok && (m.field == meansPlays || slices.Contains(countFields, m.field)) {
			return m, true
		}
	}
	return meaning{}, false
}

// nameDay is the day at the end of the name of a column of counts, as in `Views (as of 14.07.2025)`; empty without one.
func nameDay(name string) (rest, day string) {
	if !strings.ContainsAny(name, "./-") {
		return name, ""
	}
	if parts := dayEnd().FindStringSubmatch(strings.TrimSpace(name)); parts != nil {
		return parts[1], parts[2]
	}
	return name, ""
}

var (
	dayEnd = lazy.Pattern(`(?i)^(.*?\pL.*?)[ _]*[(\[]?(?:as of|as at|at|on|stand|am|vom|au|al|del|em)?[ _:]*(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})[)\]]?$`)
	// sumOf has a word for a sum before the name, as pivot tables and the languages of East Asia have it: 総視聴回数.
	// pivotCount is how a pivot table names a column of how many values there are.
	sumOf      = lazy.Pattern(`(?i)^(?:(?:sum|max|maximum) of|(?:summe|maximum) von|(?:suma|soma|somme|máx\.?) de|somma di|[总總総총]) ?(\pL.*)$`)
	pivotCount = lazy.Pattern(`(?i)^(?:count[au]? of|anzahl von|cuenta de|contagem de|nombre de|conteggio di) `)
	zoneEnd    = lazy.Pattern(`^(.+?)[ _(\[]+([A-Z]{3,4}|(?:UTC|GMT) ?[+-]\d{1,2}(?::?[0-5]\d)?)[)\]]?$`)
	unitEnd    = lazy.Pattern(`^(.+?)\s*(?:[(\[（【](?:in |en |em |[单單単단]位?위? ?[:：]? ?)?([^)\]）】]+)[)\]）】]|[ _]in[ _](\pL+)\.?|, ?(\pL+)\.?|[ _](thousands?|millions?)|[/／]([万萬億亿千만억]))$`)
	// numberedName has the number of a variable before it, as codebooks and forms count them: V4_views, Q2. Likes,
	// 3) Likes. A number alone before a blank or a dash may be one of seconds: 3-sec views.
	numberedName = lazy.Pattern(`(?i)^(?:(?:v|q|var|x)_?\d{1,3}[a-z]?[_.:) -]+|\d{1,2}[.:)][_ -]*)(\pL.*)$`)
)

// pivotLabels name the first column of a pivot table.
var pivotLabels = wordSet("rowlabels zeilenbeschriftungen etiquetasdefila étiquettesdelignes rótulosdelinha etichettediriga")

// codedName has the number of a variable under any letter before it, as codebooks count them: M5_view_count. Only
// where most columns are named so, since d7_views are those of seven days.
var codedName = lazy.Pattern(`^\pL\d{1,3}[a-z]?[_.: ]+(\pL.*)$`)

// codebook reports columns of which most are numbered as variables.
func codebook(header []string) bool {
	n := 0
	for _, name := range header {
		if codedName().MatchString(name) {
			n++
		}
	}
	return n > 3 && 2*n > len(header)
}

// nameZone is the zone at the end of the name of a column, as in `Date (EST)`; nil without one.
func nameZone(name string) (rest string, zone *time.Location) {
	parts := zoneEnd().FindStringSubmatch(strings.TrimSpace(name))
	if parts == nil {
		return name, nil
	}
	if at := strings.IndexAny(parts[2], "+-"); at > 0 {
		if _, seconds, ok := zoneOffset(parts[2][at:]); ok {
			return parts[1], time.FixedZone(parts[2], seconds)
		}
	}
	hours, ok := zoneNames[strings.ToLower(parts[2])]
	if !ok {
		return name, nil
	}
	return parts[1], time.FixedZone(parts[2], int(hours*3600))
}

// nameUnit is the power of ten at the end of the name of a column, as in `Views (K)`; 0 without one.
func nameUnit(name string) (rest string, factor float64) {
	parts := unitEnd().FindStringSubmatch(strings.TrimSpace(name))
	if parts == nil {
		return name, 0
	}
	switch word := foldName(strings.Join(parts[2:], "")); word {
	case "000", "000s", "thousands", "ks", "1000", "1000s":
		return parts[1], 1e3
	case "ms", "mil": // milliseconds, and a thousand or a million
		return name, 0
	default:
		style := new(numberStyle)
		if factor, ok := style.unit(word); ok {
			return parts[1], factor
		}
		if length, factor := style.unitAt(word); factor > 0 && smallWords[word[length:]] { // 万回
			return parts[1], factor
		}
	}
	return name, 0
}

// noiseMay reports whether a field's name may stand among noise words. An id or a name may
// not: the id of something else has such a name too.
func noiseMay(field string) bool {
	switch field {
	case "externalId", "creatorId", "handle", meansName, "platform", "soundId", "soundTitle", meansComment, "kind", "":
		return false
	}
	return true
}

// core are the tokens without the noise words at both ends.
func (v *vocabulary) core(tokens []string) string {
	for len(tokens) > 1 {
		if m, ok := v.means[strings.Join(tokens, "")]; ok && noiseMay(m.field) {
			break
		}
		switch {
		case noiseWords[tokens[0]]:
			tokens = tokens[1:]
		case noiseWords[tokens[len(tokens)-1]]:
			tokens = tokens[:len(tokens)-1]
		default:
			return strings.Join(tokens, "")
		}
	}
	return strings.Join(tokens, "")
}

func together(name string) string {
	for _, prefix := range []string{"video", "post", "media", "item", "num", "total", "reel"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			name = rest
			break
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "count"), "counts")
}

// foldName is a name without case, accents, blanks and punctuation.
func foldName(name string) string {
	return strings.Join(nameTokens(name), "")
}

// nameTokens are the words of a name: snake_case, camelCase, paths and plain text.
func nameTokens(name string) (tokens []string) {
	var token strings.Builder
	end := func() {
		if token.Len() > 0 {
			word := norm.NFC.String(token.String())
			token.Reset()
			if n := len(tokens); n > 0 && (tokens[n-1] == "tik" && word == "tok" || tokens[n-1] == "you" && word == "tube") {
				tokens[n-1] += word // names of platforms are one word
				return
			}
			tokens = append(tokens, word)
		}
	}
	lower := false
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r): // accents, and soft hyphens of web pages
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mc, r):
			if unicode.IsUpper(r) && lower {
				end()
			}
			lower = unicode.IsLower(r)
			token.WriteString(plainLetter(unicode.ToLower(r)))
		default:
			end()
			lower = false
		}
	}
	end()
	return tokens
}

// plainLetter spells letters that have no accent to lose.
func plainLetter(r rune) string {
	switch r {
	case 'ı':
		return "i"
	case 'ł':
		return "l"
	case 'ø':
		return "o"
	case 'đ':
		return "d"
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	}
	return string(r)
}
