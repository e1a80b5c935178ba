package formats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// Column is what became of one column of a table.
type Column struct {
	Name string `json:"name"`
	// Field is what it was read as; empty if it was not used.
	Field string `json:"field,omitempty"`
	// Reason says why, in words.
	Reason string `json:"reason"`
}

// understanding is what the columns of a table were taken for, by their names and values.
type understanding struct {
	header  []string
	columns sampleColumns
	// at is the column of each field, and of the meanings beside them.
	at        map[string]int
	constants map[string]string
	// languages are those of the names.
	languages map[string]bool
	// words may follow a count.
	words map[string]bool
	// metadata are further columns to keep, by their property.
	metadata     map[string]string
	durationUnit string
	layouts      []string
	dateOrder    string
	tool         *tool
	// named says that the creators are named by their display names.
	named bool
	// tree says that the rows are the nodes of a collector's tree.
	tree bool
	// doubts say what cannot be decided here. A table with doubts is not read.
	doubts []string
}

// sampleColumn is one column with the values of the sample.
type sampleColumn struct {
	Column
	// all has a value for each row of the sample; values leaves out empty ones.
	all, values []string
	meaning     meaning
	known       bool
	links       int // addresses of videos
	profiles    int
	addresses   int
}

// sampleColumns are the columns of one sample.
type sampleColumns []sampleColumn

// maxSampleRows is how many rows decide about a table.
const maxSampleRows = 1000

// noTotals are the rows of a sample, as far as its header counts, without those that have a word for a
// total in one of their first cells.
func (v *vocabulary) noTotals(header []string, rows [][]string) (kept [][]string) {
	for _, row := range rows {
		total := func(cell string) bool {
			return cell != "" && len(cell) < 60 && !strings.ContainsAny(cell, "0123456789/") && v.total[foldName(cell)]
		}
		if otherHeader(header, row) { // what is below it is another table
			break
		}
		rule := strings.Trim(strings.Join(row, ""), "-: ") == "" // of a table in Markdown
		if !rule && !rowOfTypes(row) && !slices.ContainsFunc(row[:min(3, len(row))], total) {
			kept = append(kept, row)
		}
	}
	return kept
}

// otherHeader reports a row of the names in a header, in another order.
func otherHeader(header, row []string) bool {
	if len(row) != len(header) || len(row) < 2 || slices.Equal(header, row) {
		return false
	}
	return !slices.ContainsFunc(row, func(cell string) bool { return cell == "" || !slices.Contains(header, cell) })
}

func newUnderstanding(header []string, rows [][]string) *understanding {
	u := &understanding{header: header, at: map[string]int{}, constants: map[string]string{}, languages: map[string]bool{}}
	for i, name := range header {
		c := sampleColumn{Column: Column{Name: name}}
		for _, row := range rows[:min(len(rows), maxSampleRows)] {
			text := ""
			if i < len(row) {
				text = strings.TrimSpace(row[i])
			}
			if c.all = append(c.all, text); text != "" {
				c.values = append(c.values, text)
			}
		}
		u.columns = append(u.columns, c)
	}
	return u
}

// understand takes each column for what its name and its values say.
func (r *tables) understand(header []string, rows [][]string) *understanding {
	v := r.words()
	u := newUnderstanding(header, fetched(header, v.noTotals(header, rows)))
	u.words = v.count
	votes := map[string]int{}
	coded := codebook(header)
	for i := range u.columns {
		c := &u.columns[i]
		if c.meaning, c.known = v.of(c.Name); coded && !c.known {
			if parts := codedName().FindStringSubmatch(c.Name); parts != nil {
				c.meaning, c.known = v.of(parts[1])
			}
		}
		const date = len("20250701") // a shorter number is rather a count
		if or := c.meaning.or; or != "" && !c.mostly(c.share(func(s string) bool { return len(s) >= date && timeLike(s, nil) })) {
			c.meaning.field = or
		}
		for _, language := range c.meaning.languages {
			votes[language]++
		}
		c.look()
	}
	unwrap(u, v)
	takeTree(u)
	if len(header) > 0 && pivotLabels[foldName(header[0])] {
		for i := range u.columns {
			if c := &u.columns[i]; pivotCount().MatchString(c.Name) {
				c.meaning, c.known, c.Reason = meaning{field: meansIgnored}, true, "how many values a pivot table found"
			}
		}
	}
	most := 0
	for _, n := range votes {
		most = max(most, n)
	}
	for language, n := range votes {
		u.languages[language] = n == most
	}
	if !u.tree {
		u.tool = toolOf(r.tools(), header)
	}
	u.takeTool()
	u.takeLinks()
	u.leaveSharers()
	u.takeFields()
	style := numberStyle{languages: u.languages, words: v.count}
	u.takeViews()
	u.takeIDs()
	u.takeTimes()
	takeDay(u)
	u.leaveSaved()
	u.takeCreator()
	u.leaveGains()
	leaveAccounts(u)
	u.takePlatform(r.out.name)
	if at, ok := u.at["durationSeconds"]; ok {
		u.durationUnit = u.unitOfDuration(&u.columns[at])
	}
	u.leaveFavorites()
	u.takeCaption()
	u.check(style)
	u.columns.describe()
	return u
}

// wrapperWords name a column that has the whole of what a program stored of a video, as an object.
var wrapperWords = wordSet("payload raw rawdata rawjson json jsondata doc document body value record object response result event message data item node video post aweme metadata attributes")

// unwrap takes the members of one column of objects for the video's, whatever the row has beside it, such as a
// number and a time of its own. They have an id or an address, and the only views of the table.
func unwrap(u *understanding, v *vocabulary) {
	views := map[string]bool{}
	inner, keys := map[int]meaning{}, 0
	for i := range u.columns {
		name, rest, dotted := strings.Cut(u.columns[i].Name, ".")
		dotted = dotted && wrapperWords[foldName(name)]
		if !dotted {
			name, rest = "", u.columns[i].Name
		}
		m, known := v.of(rest)
		if known && (m.field == "views" || m.field == meansPlays) {
			views[name] = true
		}
		if dotted && known {
			if m.rank -= unwrapped; m.field == "externalId" || m.field == "sourceUrl" {
				keys++
			}
			inner[i] = m
		}
	}
	if len(views) != 1 || views[""] || keys == 0 {
		return
	}
	for i, m := range inner {
		u.columns[i].meaning, u.columns[i].known = m, true
	}
}

// unwrapped is by how much names in an object go before those beside it.
const unwrapped = 1000

// look counts the addresses among the values.
func (c *sampleColumn) look() {
	for _, value := range c.values {
		switch l := readLink(value); {
		case l.kind == videoLink || l.kind == shortLink || l.kind == photoLink:
			c.links++
		case l.kind == profileLink:
			c.profiles++
		case strings.Contains(value, "://"):
			c.addresses++
		}
	}
}

// mostly reports whether a number is more than half of the values.
func (c *sampleColumn) mostly(n int) bool { return 2*n > len(c.values) }

// share is how many of the values pass.
func (c *sampleColumn) share(pass func(string) bool) (n int) {
	for _, value := range c.values {
		if pass(value) {
			n++
		}
	}
	return n
}

func (u *understanding) take(field string, column int, reason string) {
	u.at[field] = column
	u.columns[column].Field, u.columns[column].Reason = field, reason
}

func (u *understanding) has(field string) bool {
	_, ok := u.at[field]
	return ok
}

func (u *understanding) doubt(format string, args ...any) {
	u.doubts = append(u.doubts, fmt.Sprintf(format, args...))
}

// takeTool takes what is known of the tool that wrote the table.
func (u *understanding) takeTool() {
	t := u.tool
	if t == nil {
		return
	}
	reason := "a column of " + t.Tool
	for _, field := range sortedKeys(t.columns.Columns) {
		at := columnAt(u.header, t.columns.Columns[field])
		if at < 0 {
			continue
		}
		u.at[field] = at
		if c := &u.columns[at]; c.Field == "" {
			c.Field, c.Reason = field, reason
		}
	}
	if at := columnAt(u.header, t.Type); at >= 0 {
		u.take(meansType, at, reason)
	}
	for _, name := range t.Ignore {
		at := columnAt(u.header, name)
		if at >= 0 && u.columns[at].Field == "" && (u.columns[at].meaning.field != "postedAt" || u.has("postedAt")) {
			u.columns[at].meaning, u.columns[at].known = meaning{field: meansIgnored}, true
			u.columns[at].Reason = reason + ", not kept"
		}
	}
	for _, name := range sortedKeys(t.Not) {
		if columnAt(u.header, name) >= 0 {
			u.doubt("%s", t.Not[name])
		}
	}
	maps.Copy(u.constants, t.columns.Constants)
	u.layouts, u.dateOrder = t.columns.TimeLayouts, t.DateOrder
}

// takeLinks finds the column of addresses by its values: the most of them, or, under a name
// for addresses, some among profiles and other sites.
func (u *understanding) takeLinks() {
	best := u.columns.bestLinks(func(c *sampleColumn) bool { return c.mostly(c.links) })
	if best < 0 {
		best = u.columns.bestLinks(func(c *sampleColumn) bool {
			return c.meaning.field == "sourceUrl" && c.links > 0
		})
	}
	if best < 0 || u.has("sourceUrl") {
		return
	}
	if field := u.columns[best].meaning.field; (field == "caption" || field == "title") && slices.ContainsFunc(u.columns, func(c sampleColumn) bool {
		return c.meaning.field == "externalId" && len(c.values) > 0 && c.mostly(c.share(func(s string) bool { return idForm(s) != "" && idForm(s) != "other" }))
	}) {
		return // texts with addresses of other videos in them
	}
	u.take("sourceUrl", best, "addresses of videos")
	for i := range u.columns {
		if c := &u.columns[i]; u.columns[best].meaning.field != "sourceUrl" && c.Field == "" && len(c.values) > 0 && c.mostly(c.links) && c.otherVideos(&u.columns[best]) {
			u.doubt("addresses of videos are in %q and, other ones, in %q", u.columns[best].Name, c.Name)
			return
		}
	}
}

// sharerWords name columns of posts on other sites, which may be about the addresses of videos.
var sharerWords = wordSet("subreddit subredditid subredditname upvoteratio tweetid tweeturl retweets retweetcount retweetscount")

// leaveSharers leaves all but the addresses of a table of posts on other sites that share videos:
// their authors, times and counts are none of the videos'.
func (u *understanding) leaveSharers() {
	at := slices.IndexFunc(u.columns, func(c sampleColumn) bool {
		return sharerWords[foldName(c.Name)] && 2*len(c.values) > len(c.all)
	})
	if at < 0 || !u.has("sourceUrl") || u.tool != nil {
		return
	}
	for i := range u.columns {
		if c := &u.columns[i]; c.Field == "" {
			c.meaning, c.known = meaning{field: meansIgnored}, true
			c.Reason = fmt.Sprintf("of the post that shares the video, as %q says", u.header[at])
		}
	}
}

// bestLinks is the column of addresses with the best name among those that pass; -1 without one.
func (cs sampleColumns) bestLinks(pass func(*sampleColumn) bool) int {
	best := -1
	for i := range cs {
		c := &cs[i]
		if c.Field != "" || len(c.values) == 0 || !pass(c) || c.meaning.field == "externalId" {
			continue
		}
		if several := c.share(func(s string) bool { l := readLink(s); return l.kind == videoLink && severalVideos(s, l.id) }); several > 1 && 10*several >= 9*len(c.values) {
			c.Reason = "lists of addresses: each row is about several videos"
			continue
		}
		named := c.meaning.field == "sourceUrl"
		if best < 0 || named && cs[best].meaning.field != "sourceUrl" || named && c.meaning.rank < cs[best].meaning.rank {
			best = i
		}
	}
	return best
}

// takeIDs takes a column under an unknown name for the ids, if each value has their form and
// looks like no word.
func (u *understanding) takeIDs() {
	if u.has("externalId") || u.has("sourceUrl") || !u.has("views") {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field == "" && (!c.known || studioWords[foldName(c.Name)]) && len(c.values) > 0 && c.share(randomID) == len(c.values) && !u.recurs(i) {
			u.take("externalId", i, "all of its values have the form of ids")
			return
		}
	}
}

// randomID reports a text in the form of an id that looks like no word.
func randomID(s string) bool {
	form := idForm(s)
	return form == "tiktok" || form != "" && form != "other" && (strings.ContainsAny(s, "0123456789_-") || mixedCase(s))
}

// mixedCase reports capitals behind small letters.
func mixedCase(s string) bool {
	return strings.ToUpper(s[:1])+strings.ToLower(s[1:]) != s && strings.ToLower(s) != s && strings.ToUpper(s) != s
}

// otherVideos reports a column whose addresses are mostly of other videos than those of another one.
func (c *sampleColumn) otherVideos(than *sampleColumn) bool {
	other := 0
	for i, value := range c.all {
		if a, b := readLink(value), readLink(than.all[i]); a.kind == videoLink && b.kind == videoLink && a.id != b.id {
			other++
		}
	}
	return c.mostly(other)
}

// plainFields are those that a column's name decides, if its values do not object.
var plainFields = []string{
	"platform", "externalId", "sourceUrl", "creatorId", "handle", "kind", "seededBy", "caption", "title", "hashtags", "soundId", "soundTitle", "language",
	"likes", "comments", "shares", "saves", "semantics", "followers", "spoken", "onScreenText", "visual", "durationSeconds", meansType, meansVideo, meansPhoto,
}

func (u *understanding) takeFields() {
	for _, field := range plainFields {
		if u.has(field) {
			continue
		}
		if best := u.columns.best(field, func(c *sampleColumn) bool { return u.suits(field, c) }); best >= 0 {
			u.take(field, best, fmt.Sprintf("named %q", u.columns[best].Name))
		}
	}
}

// best is the column with the best name for a field; -1 without one.
func (cs sampleColumns) best(field string, suits func(*sampleColumn) bool) int {
	best := -1
	for i := range cs {
		c := &cs[i]
		if c.Field != "" || !c.known || c.meaning.field != field {
			continue
		}
		switch {
		case !suits(c):
			c.Reason = fmt.Sprintf("its values are none of %s, such as %s", field, c.examples())
		case best < 0 || c.better(&cs[best]):
			best = i
		}
	}
	return best
}

// examples are the first different values in words.
func (c *sampleColumn) examples() string {
	const most = 5
	var quoted []string
	for _, value := range c.values {
		if text := fmt.Sprintf("%.40q", value); !slices.Contains(quoted, text) {
			quoted = append(quoted, text)
		}
		if len(quoted) == most {
			break
		}
	}
	return strings.Join(quoted, ", ")
}

// better reports whether a column is rather the field than another one of the same meaning: of
// likes and video_likes the latter, since the first are then those of something else; one that
// is mostly empty is not; else the one with the better name.
func (c *sampleColumn) better(than *sampleColumn) bool {
	switch {
	case 2*len(c.values) < len(than.values), 2*len(than.values) < len(c.values):
		return len(c.values) > len(than.values)
	case c.ofVideo() != than.ofVideo() && slices.Contains(countFields, c.meaning.field):
		return c.ofVideo()
	}
	return c.meaning.rank < than.meaning.rank
}

// saysID reports a name that says that it is of ids.
func (c *sampleColumn) saysID() bool {
	name := foldName(c.Name)
	return strings.Contains(name, "id") && name != "video" || strings.Contains(name, "code") || strings.Contains(name, "key")
}

// ofVideo reports a name that says that it is about the video.
func (c *sampleColumn) ofVideo() bool {
	tokens := nameTokens(c.Name)
	return len(tokens) > 1 && slices.Contains([]string{"video", "vid", "post", "reel", "aweme", "clip"}, tokens[0])
}

// suits reports whether the values of a column may be those of a field.
func (u *understanding) suits(field string, c *sampleColumn) bool {
	if len(c.values) == 0 {
		return true
	}
	switch field {
	case "platform":
		return c.mostly(c.share(func(s string) bool { return platformOf(s) != "" }))
	case "externalId":
		if !c.mostly(c.links) && !c.saysID() && c.mostly(c.share(func(s string) bool { return idForm(s) == "other" && !allDigits(s) })) {
			return false // a column Content or Post of texts in one word
		}
		return c.links > 0 && 2*c.links >= len(c.values)-2 || c.mostly(c.share(func(s string) bool { return idForm(s) != "" })) && (!c.counts() || c.meaning.rank == 0)
	case "sourceUrl":
		return c.mostly(c.links) || c.mostly(c.addresses) && !u.knownPlatform()
	case "soundTitle":
		return !c.mostly(c.share(func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }))
	case "creatorId", "soundId":
		return !c.mostly(c.share(func(s string) bool { return strings.ContainsAny(s, "{[ ") || s[0] == '@' }))
	case "handle":
		return !c.mostly(c.share(func(s string) bool {
			return strings.ContainsAny(s, "{[") || len(s) > 100 || len(s) >= 8 && allDigits(s) // the number of an account
		}))
	case "kind":
		return c.share(func(s string) bool { return slices.Contains([]string{"own", "competitor", "niche"}, s) }) == len(c.values)
	case "likes", "shares", "saves":
		return c.mostly(c.share(u.isCount)) && !(flagWords[foldName(c.Name)] && len(c.values) > 1 && c.share(func(s string) bool { return s == "0" || s == "1" }) == len(c.values))
	case "comments", "followers":
		return c.mostly(c.share(u.isCount))
	case "durationSeconds":
		return c.mostly(c.share(func(s string) bool {
			_, ok := parseDuration(s, "")
			return ok || s == "0" || s == "-1" || hiddenWords[strings.ToLower(s)]
		}))
	case "caption", "title":
		return !c.mostly(c.share(func(s string) bool {
			return readLink(s).kind == videoLink && !strings.Contains(s, " ") || yesOrNo(s) != 0 && len(s) > 1
		})) && !(studioWords[foldName(c.Name)] && c.share(randomID) == len(c.values))
	case meansVideo, meansPhoto:
		return c.mostly(c.share(func(s string) bool { return yesOrNo(s) != 0 }))
	}
	return true
}

// flagWords may also say of a row, by 1 and 0, that someone has marked it.
var flagWords = wordSet("like liked share shared save saved bookmark bookmarked favorite favorited favourite favourited collect collected")

func (u *understanding) isCount(s string) bool {
	style := numberStyle{languages: u.languages, words: u.words}
	c := style.count(s)
	return !c.bad || c.hidden || style.amountLike(s) || errorCell().MatchString(s)
}

// amountLike reports a text that begins as a number and is none in this style alone.
func (s *numberStyle) amountLike(text string) bool {
	text = strings.TrimLeft(plainDigits(strings.TrimSpace(plainCell(text))), "-−")
	n := numberPart(text)
	return n > 0 && !strings.ContainsAny(text[n:], ":/-") && len(text) < 40
}

// counts reports a column of row numbers: 1, 2, 3.
func (c *sampleColumn) counts() bool {
	return c.share(func(s string) bool { return allDigits(s) && len(s) < 10 }) == len(c.values)
}

// knownPlatform reports whether all that is said of the platform is one of the known three.
func (u *understanding) knownPlatform() bool {
	at, ok := u.at["platform"]
	if !ok {
		return true
	}
	return u.columns[at].share(func(s string) bool { return ownIDs(platformOf(s)) }) == len(u.columns[at].values)
}

// ownIDs reports a platform whose ids are known by their form.
func ownIDs(platform string) bool {
	_, ok := platforms.Of(platform)
	return ok
}

// idForm is the form of an id: that of a platform, "code" for what may be Instagram's or
// YouTube's, "other" for any other, or empty for what is no id.
func idForm(s string) string {
	if s = plainID(s); strings.ContainsAny(s, ".,") && zeroDecimal().MatchString(s) {
		s = s[:strings.IndexAny(s, ".,")]
	}
	switch {
	case strings.ContainsAny(s, " \t{[") || s == "" || len(s) > 200:
		return ""
	case allDigits(s) && len(s) >= 17 && len(s) <= 20 && stage.PostedByID(stage.Ref{Platform: "tiktok", ExternalID: s}) != nil:
		return "tiktok"
	case youtubeID(s) && strings.ContainsRune("BCD", rune(s[0])):
		return "code"
	case youtubeID(s):
		return "youtube"
	}
	return "other"
}

func (u *understanding) unitOfDuration(c *sampleColumn) string {
	tokens := nameTokens(c.Name)
	for _, token := range tokens {
		switch token {
		case "ms", "millis", "milliseconds", "msec":
			return "milliseconds"
		case "min", "mins", "minutes", "minuten", "minutos":
			return "minutes"
		case "s", "sec", "secs", "seconds", "durationseconds", "sekunden", "segundos", "secondi", "secondes", "saniye", "seconden", "sekundy", "сек", "секунды", "秒", "초":
			return "seconds"
		}
	}
	plain := func(least, most float64) int {
		return c.share(func(s string) bool {
			n, ok := parseDuration(s, "")
			return ok && strings.Trim(s, "0123456789.,") == "" && n >= least && n < most
		})
	}
	switch short := u.only("tiktok") || u.only("instagram"); {
	case short && c.mostly(plain(1000, 1e9)) && plain(3600, 1e9) > 0, // an hour is the most there
		len(c.values) > 0 && plain(1000, 1e9) == len(c.values) && plain(24*3600, 1e9) > 0:
		return "milliseconds"
	case len(c.values) > 0 && plain(0, 0.2) == len(c.values):
		return "days"
	case short && c.shifted():
		c.Reason += ", in minutes and seconds: a spreadsheet took them for hours and minutes"
		return shiftedClock
	case c.sixtieths():
		c.Reason += ", in minutes: all are seconds that were divided by 60"
		return "minutes"
	}
	return "seconds"
}

// shiftedClock is the unit of times of day that are sixty times as long as what was written: 0:31 is 0:31:00 in a
// spreadsheet.
const shiftedClock = "shifted"

// shifted reports some lengths in hours and minutes that all end in no seconds.
func (c *sampleColumn) shifted() bool {
	const enough = 3
	return len(c.values) >= enough && c.share(func(s string) bool { return strings.Count(s, ":") == 2 && strings.HasSuffix(s, ":00") }) == len(c.values)
}

// sixtieths reports numbers that are all whole when multiplied by 60, and some of which have the many
// decimals that come of dividing by it.
func (c *sampleColumn) sixtieths() bool {
	const least = 4
	long := 0
	for _, value := range c.values {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || math.Abs(60*n-math.Round(60*n)) > 1e-4 {
			return false
		}
		if _, decimals, _ := strings.Cut(value, "."); len(decimals) >= least {
			long++
		}
	}
	return long > 0
}

// takeViews decides which count the views are.
func (u *understanding) takeViews() {
	if u.has("views") {
		return
	}
	counts := func(c *sampleColumn) bool { return len(c.values) == 0 || c.mostly(c.share(u.isCount)) }
	views, plays := u.columns.best("views", counts), u.columns.best(meansPlays, counts)
	switch {
	case views < 0 && plays < 0:
		return
	case views < 0:
		views = plays
	case plays >= 0 && 2*len(u.columns[views].values) < len(u.columns[plays].values):
		views = plays
	case plays >= 0 && 2*len(u.columns[plays].values) < len(u.columns[views].values):
	case plays >= 0 && u.only("instagram"):
		views = plays
	case plays >= 0 && !slices.Equal(u.columns[plays].all, u.columns[views].all):
		u.doubt("the views may be in %q or in %q", u.columns[views].Name, u.columns[plays].Name)
	}
	for i := range u.columns {
		if c := &u.columns[i]; i != views && c.Field == "" && c.known && c.meaning.field == u.columns[views].meaning.field && counts(c) && !lesser(c.Name, u.columns[views].Name) && u.rival(c, &u.columns[views]) {
			u.doubt("the views may be in %q or in %q", u.columns[views].Name, c.Name)
			break
		}
	}
	u.take("views", views, fmt.Sprintf("named %q", u.columns[views].Name))
}

// shownWords name views, but where another column is named for these they are how often a picture of the video was shown.
var shownWords = wordSet("tayangan zobrazení zobrazenia wyświetlenia näytöt показвания")

// lesser reports the name of a column that is none of the views beside another one: how often something was shown, or
// the same in thousands.
func lesser(name, than string) bool {
	_, factor := nameUnit(name)
	_, other := nameUnit(than)
	return shownWords[foldName(name)] && !shownWords[foldName(than)] || factor > 0 && other == 0
}

// leaveFavorites leaves a count of favorites on YouTube, where it is always 0.
func (u *understanding) leaveFavorites() {
	at, ok := u.at["saves"]
	if !ok || u.tool != nil || !strings.Contains(foldName(u.header[at]), "favo") || !u.only("youtube") {
		return
	}
	delete(u.at, "saves")
	u.columns[at].Field, u.columns[at].Reason = "", "YouTube no longer counts favorites, and writes 0"
}

// only reports whether the table is of one platform alone.
func (u *understanding) only(platform string) bool {
	if u.constants["platform"] == platform {
		return true
	}
	for _, field := range []string{"platform", "sourceUrl", "externalId"} {
		if at, ok := u.at[field]; ok {
			c := &u.columns[at]
			if n := c.share(func(s string) bool {
				return readLink(s).platform == platform || field == "platform" && platformOf(s) == platform
			}); n > 0 && n == len(c.values) {
				return true
			}
			if foldName(c.Name) == "shortcode" {
				return platform == "instagram"
			}
		}
	}
	return false
}

// leaveSaved leaves out the time at which a row was created, such as a bookmark: it is later than what
// the ids of TikTok say, or nothing was counted.
func (u *understanding) leaveSaved() {
	at, ok := u.at["postedAt"]
	if !ok || u.tool != nil {
		return
	}
	name, reason := foldName(u.header[at]), ""
	after, compared := u.after(at)
	after = after && u.idsTell()
	switch {
	case !strings.HasPrefix(name, "creat") && name != "datecreated" || strings.Contains(name, "time"):
		return
	case after && (u.has("views") || !u.has("likes")): // likes alone: the rows may be comments
		reason = "later than the times in the ids: it is not that of the post"
	case !compared && !slices.ContainsFunc(countFields, u.has):
		reason = "it may be when the address was saved: the table counts nothing"
	default:
		return
	}
	delete(u.at, "postedAt")
	u.columns[at].Field, u.columns[at].Reason = "", reason
}

// takeTimes finds the time of the post and that of the counts.
func (u *understanding) takeTimes() {
	timed := func(c *sampleColumn) bool {
		return len(c.values) == 0 || 4*c.share(func(s string) bool { return timeLike(s, u.layouts) }) >= len(c.values)
	}
	someTime := func(c *sampleColumn) bool { // what is none is named then
		return timed(c) || c.share(func(s string) bool { return timeLike(s, u.layouts) }) > 0
	}
	for _, field := range []string{"postedAt", "observedAt"} {
		if u.has(field) {
			continue
		}
		switch best := u.columns.best(field, someTime); {
		case best < 0:
		case field == "postedAt" && u.columns[best].collected():
			u.columns[best].Reason = "many videos share its times: they are those of a program, not of the posts"
		default:
			u.take(field, best, fmt.Sprintf("named %q", u.columns[best].Name))
		}
	}
	takeClock(u)
	plain := u.columns.best(meansTime, timed)
	if plain < 0 {
		u.takeRecurring()
		return
	}
	for i := range u.columns { // of two plain times, that of the post is the earlier one
		if c := &u.columns[i]; u.has("postedAt") || i == plain || c.Field != "" || c.meaning.field != meansTime || len(c.values) == 0 || !timed(c) {
			continue
		}
		earlier := i
		switch {
		case u.later(i, plain):
			earlier, plain = plain, i
		case !u.later(plain, i):
			continue
		}
		u.take("postedAt", earlier, fmt.Sprintf("named %q, and never after %q", u.columns[earlier].Name, u.columns[plain].Name))
	}
	name := u.columns[plain].Name
	switch {
	case !u.has("postedAt") && u.columns[plain].ofVideo():
		u.take("postedAt", plain, fmt.Sprintf("named %q", name))
	case u.has("postedAt") && u.has("observedAt"):
	case !u.has("postedAt") && u.recurs(plain):
		u.take("observedAt", plain, fmt.Sprintf("%q differs where a video recurs", name))
	case !u.has("postedAt") && !u.has("observedAt") && u.columns[plain].same():
		u.take("observedAt", plain, fmt.Sprintf("%q is the same for all videos", name))
	case !u.has("postedAt") && !u.has("observedAt") && u.columns[plain].collected():
		u.take("observedAt", plain, fmt.Sprintf("many videos share the times in %q", name))
	case !u.has("postedAt"):
		switch u.agrees(plain) {
		case 1:
			u.take("postedAt", plain, "the times in the ids")
		case -1:
			u.take("observedAt", plain, "later than the times in the ids")
		case -2:
			u.columns[plain].Reason = "later than the times in the ids: it is not that of the post"
		default:
			u.take("postedAt", plain, fmt.Sprintf("named %q, and nothing else is the time of the post", name))
		}
	case u.later(plain, u.at["postedAt"]):
		u.take("observedAt", plain, fmt.Sprintf("named %q, and never before the post", name))
	}
}

// takeDay takes the day in the name of the views for that of the counts.
func takeDay(u *understanding) {
	at, ok := u.at["views"]
	if !ok || u.has("observedAt") || u.constants["observedAt"] != "" {
		return
	}
	if _, day := nameDay(u.header[at]); day != "" {
		if when, ok := (&timeStyle{}).read(day); ok {
			u.constants["observedAt"] = time.UnixMilli(when.at).UTC().Format(time.DateOnly)
		}
	}
}

// clockTime is a time of day alone.
var clockTime = lazy.Pattern(`^\d{1,2}:\d{2}(:\d{2})?( ?[AaPp]\.?[Mm]\.?)?$`)

// takeClock takes a column of times of day that belongs to the dates of the posts.
func takeClock(u *understanding) {
	posted, ok := u.at["postedAt"]
	if !ok || u.tool != nil || u.columns[posted].share(clockTime().MatchString) > 0 || u.columns[posted].share(func(s string) bool { return strings.Contains(s, ":") }) > 0 {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field == "" && c.known && (c.meaning.field == "postedAt" || c.meaning.field == meansTime) && len(c.values) > 0 && c.share(clockTime().MatchString) == len(c.values) {
			u.at[meansClock] = i
			c.Field, c.Reason = "postedAt", fmt.Sprintf("the times of day beside the dates in %q", u.header[posted])
			return
		}
	}
}

// same reports one value in each of some rows, as the day on which all was counted.
func (c *sampleColumn) same() bool {
	const enough = 5
	return len(c.values) >= enough && len(c.values) == c.share(func(s string) bool { return s == c.values[0] })
}

// collected reports times of day, to the minute, that ten rows and more share: a program wrote them
// while it went through the videos.
func (c *sampleColumn) collected() bool {
	const enough, minute = 20, 60 * 1000
	style, minutes, clocks, whole := timeStyle{order: "dmy"}, map[int64]bool{}, map[int64]bool{}, 0
	for _, value := range c.values {
		at, ok := style.read(value)
		if !ok || at.dated {
			return false
		}
		if minutes[at.at/minute] = true; at.at%(60*minute) == 0 { // a planned time, or a date
			whole++
		}
		clocks[at.at/minute%(24*60)] = true
	}
	// The same time of many days is none: 18:30 is midnight in India.
	return len(c.values) >= enough && 10*len(minutes) <= len(c.values) && !c.mostly(whole) && len(minutes) < 2*len(clocks)
}

// takeRecurring takes a column of times under any name for that of the counts, if it differs
// where a video recurs.
func (u *understanding) takeRecurring() {
	if u.has("observedAt") {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field == "" && !c.known && len(c.values) > 0 && c.share(func(s string) bool { return timeLike(s, nil) && !allDigits(s) }) == len(c.values) && u.recurs(i) {
			u.take("observedAt", i, "times that differ where a video recurs")
			return
		}
	}
}

// timeLike reports a text that is a time, whatever the order of its day and month.
func timeLike(s string, layouts []string) bool {
	style := timeStyle{layouts: layouts}
	if _, ok := style.read(s); ok {
		return true
	}
	d, ok := readDate(strings.TrimSpace(plainCell(s)))
	return ok && len(d.orders()) > 0
}

// key is the column that tells the videos apart: the addresses if each row has one, since a
// spreadsheet may have rounded the ids; not ok without any.
func (u *understanding) key() (column int, ok bool) {
	id, hasID := u.at["externalId"]
	url, hasURL := u.at["sourceUrl"]
	if hasURL && (!hasID || u.columns[url].links > 0 && u.columns.everyLink(url, id)) {
		return url, true
	}
	return id, hasID
}

// recurs reports whether a video has several values in a column.
func (u *understanding) recurs(column int) bool {
	_, other := u.again(column, nil)
	return other > 0
}

// again counts the rows in which a video recurs, and those of them that have another value in a
// column than its first row, or one that differs as given.
func (u *understanding) again(column int, differ func(a, b string) bool) (rows, other int) {
	at, ok := u.key()
	if !ok {
		return 0, 0
	}
	first := map[string]string{}
	for i, id := range u.columns[at].all {
		value := u.columns[column].all[i]
		if id == "" || value == "" {
			continue
		}
		had, seen := first[id]
		if !seen {
			first[id] = value
			continue
		}
		if rows++; had != value && (differ == nil || differ(had, value)) {
			other++
		}
	}
	return rows, other
}

// idsTell reports ids of TikTok whose times differ. Invented ids have the same, and so have those
// that a spreadsheet has rounded: they say nothing of other times.
func (u *understanding) idsTell() bool {
	first := int64(0)
	for i := range u.columns[0].all {
		if by := u.postedByID(i); by > 0 && first > 0 && by != first {
			return true
		} else if by > 0 {
			first = by
		}
	}
	return false
}

// agrees compares a column of times with those in TikTok's ids: 1 if they are the same day,
// -1 if they are later and of a few days, -2 if they are later, 0 if there is nothing to compare.
func (u *understanding) agrees(column int) int {
	if !u.idsTell() {
		return 0
	}
	same, later, days := 0, 0, map[int64]bool{}
	order := cmp.Or(u.orderOf(column, 0), "dmy")
	for i, value := range u.columns[column].all {
		by := u.postedByID(i)
		style := timeStyle{layouts: u.layouts, order: order}
		at, ok := style.read(value)
		if by == 0 || !ok {
			continue
		}
		switch {
		case abs(at.at-by) <= 36*3600*1000:
			same++
		case at.at > by:
			later++
			days[at.at/(24*3600*1000)] = true
		}
	}
	switch {
	case same > later:
		return 1
	case later > same && later >= 20 && 5*len(days) <= later: // a few days of collecting for all videos
		return -1
	case later > same:
		return -2
	}
	return 0
}

func abs(n int64) int64 { return max(n, -n) }

// postedByID is the time in the id of a row of TikTok; 0 without one.
func (u *understanding) postedByID(row int) int64 {
	for _, field := range []string{"externalId", "sourceUrl"} {
		at, ok := u.at[field]
		if !ok {
			continue
		}
		id := plainCell(u.columns[at].all[row])
		if l := readLink(id); l.platform == "tiktok" && l.id != "" {
			id = l.id
		}
		if len(id) < 17 {
			continue
		}
		if by := stage.PostedByID(stage.Ref{Platform: "tiktok", ExternalID: id}); by != nil {
			return *by
		}
	}
	return 0
}

// later reports whether no time of a column is before that of another one, and some are after it: by
// a minute, or by a day if only the other one has dates alone.
func (u *understanding) later(column, than int) bool {
	const minute, day = 60 * 1000, 24 * 3600 * 1000
	after := 0
	for i, value := range u.columns[column].all {
		style := timeStyle{layouts: u.layouts, order: "dmy"}
		a, ok := style.read(value)
		b, ok2 := style.read(u.columns[than].all[i])
		if !ok || !ok2 {
			continue
		}
		least := int64(minute)
		if b.dated && !a.dated { // the date is of a zone that may be another one
			least, b.at = 2*day, b.at-day
		}
		if a.at < b.at {
			return false
		} else if a.at > b.at+least {
			after++
		}
	}
	return after > 0
}

// orderOf is the order of day and month in a column of times: what all of its dates allow,
// then what the ids, the present or the language of the table say. Empty if it stays open.
func (u *understanding) orderOf(column int, now int64) string {
	if column < 0 {
		return ""
	}
	open := map[string]bool{"dmy": true, "mdy": true, "ymd": true, "ydm": true}
	ambiguous := false
	fits := map[string]int{}
	for i, value := range u.columns[column].all {
		d, ok := readDate(strings.TrimSpace(plainCell(value)))
		if !ok || d.month > 0 || d.width[0] == 4 {
			continue
		}
		orders := d.orders()
		if len(orders) == 1 && d.numbers[0] == d.numbers[1] {
			continue
		}
		ambiguous = ambiguous || len(orders) > 1
		by := u.postedByID(i)
		for _, order := range []string{"dmy", "mdy", "ymd", "ydm"} {
			if !slices.Contains(orders, order) {
				open[order] = false
				continue
			}
			at := d.time(order, time.UTC).at
			if at > now+36*3600*1000 && now > 0 {
				open[order] = false
			}
			if by > 0 && abs(at-by) <= 36*3600*1000 {
				fits[order]++
			}
		}
	}
	var left []string
	for _, order := range []string{"dmy", "mdy", "ymd", "ydm"} {
		if open[order] {
			left = append(left, order)
		}
	}
	switch {
	case len(left) == 1:
		return left[0]
	case len(left) == 0 || !ambiguous:
		return ""
	}
	slices.SortFunc(left, func(a, b string) int { return cmp.Compare(fits[b], fits[a]) })
	switch {
	case fits[left[0]] > fits[left[1]]:
		return left[0]
	case u.dateOrder != "" && open[u.dateOrder]:
		return u.dateOrder
	case len(u.languages) > 0 && !u.languages["ja"] && !u.languages["zh"] && !u.languages["ko"] && open["dmy"]:
		return "dmy"
	}
	return ""
}

// takeCreator takes a display name for want of a handle, and profiles for both.
func (u *understanding) takeCreator() {
	url, linked := u.at["sourceUrl"]
	if at, ok := u.at["handle"]; ok && linked && u.tool == nil && looseNames[foldName(u.header[at])] && u.columns[at].otherNames(&u.columns[url]) {
		delete(u.at, "handle")
		u.columns[at].Field, u.columns[at].Reason = "", "other names than those in the addresses of the videos"
	}
	if at, ok := u.at["handle"]; ok {
		c := &u.columns[at]
		if u.tool == nil && looseNames[foldName(c.Name)] && c.mostly(c.share(func(s string) bool { return readLink(s).kind == noLink && !handleForm(strings.ToLower(s)) })) {
			c.Reason += ": a display name, for want of a handle"
			u.named = true
		}
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		switch {
		case c.Field != "" || len(c.values) == 0 || !c.mostly(c.profiles):
		case readLink(c.values[0]).handle != "":
			u.take("handle", i, "addresses of profiles")
			return
		case !u.has("creatorId"):
			u.take("creatorId", i, "addresses of channels")
		}
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field == "" && c.known && c.meaning.field == "creatorId" && len(c.values) > 0 && c.mostly(c.share(func(s string) bool { return s[0] == '@' })) {
			u.take("handle", i, "handles, by their @")
			return
		}
	}
	if best := u.columns.best(meansName, func(*sampleColumn) bool { return true }); best >= 0 {
		u.take("handle", best, fmt.Sprintf("named %q: a display name, for want of a handle", u.columns[best].Name))
		u.named = true
	}
}

// looseNames may also be those of who found the videos.
var looseNames = wordSet("author user autor auteur autore benutzer utilisateur usuario utente name")

// otherNames reports a column of handles that are mostly others than those in the addresses, as
// of who found the videos. Addresses that all have one handle say nothing: any leads to the video.
func (c *sampleColumn) otherNames(addresses *sampleColumn) bool {
	other, known := 0, map[string]bool{}
	for i, text := range c.all {
		name := strings.ToLower(readLink(addresses.all[i]).handle)
		if name == "" || text == "" || readLink(text).kind != noLink {
			continue
		}
		known[name] = true
		if text = strings.TrimPrefix(strings.ToLower(text), "@"); text != name && handleForm(text) {
			other++
		}
	}
	return len(known) > 1 && c.mostly(other)
}

// leaveGains leaves a column of followers where nothing says whose they are: tables of a
// channel's own videos, as YouTube's, have those that each video brought under that name.
func (u *understanding) leaveGains() {
	at, ok := u.at["followers"]
	if !ok || u.tool != nil || creatorWords[nameTokens(u.header[at])[0]] {
		return
	}
	reason := "no column says whose followers: it may have those that each video brought"
	if who, has := u.at["handle"]; has && u.differs(at, who) {
		reason = "it differs among the videos of a creator: it may have those that each video brought"
	} else if has || u.has("creatorId") || u.has("sourceUrl") {
		return
	}
	delete(u.at, "followers")
	u.columns[at].Field, u.columns[at].Reason = "", reason
}

// leaveAccounts leaves likes that may be all those of an account: they stand beside its followers and
// those that it follows, and nothing else counts a video.
func leaveAccounts(u *understanding) {
	at, ok := u.at["likes"]
	if !ok || u.tool != nil || u.columns[at].ofVideo() {
		return
	}
	who, named := u.at["handle"]
	reason := "beside the followers of an account and nothing that counts a video, they may be all its likes"
	switch {
	case named && u.columns.constant(at, who) && (!u.has("views") || !u.columns.constant(u.at["views"], who)):
		reason = "the same for all videos of an account: they may be all its likes"
	case named && u.differs(at, who), !u.has("followers"), slices.ContainsFunc([]string{"views", "comments", "shares", "saves"}, u.has),
		!slices.ContainsFunc(u.header, func(name string) bool { return strings.HasPrefix(foldName(name), "following") }):
		return
	}
	delete(u.at, "likes")
	u.columns[at].Field, u.columns[at].Reason = "", reason
}

// constant reports counts of three digits and more that are the same in all rows of a creator, some rows of whom recur.
func (cs sampleColumns) constant(column, who int) bool {
	const enough = 3
	first, again := map[string]string{}, 0
	for i, name := range cs[who].all {
		value := cs[column].all[i]
		if name == "" || len(value) < 3 {
			continue
		}
		had, ok := first[name]
		switch {
		case !ok:
			first[name] = value
		case had != value:
			return false
		default:
			again++
		}
	}
	return again >= enough
}

// differs reports counts that are three times as many in one row of a creator than in another.
func (u *understanding) differs(column, who int) bool {
	least, style := map[string]int64{}, numberStyle{languages: u.languages, words: u.words}
	for range 2 {
		for i, name := range u.columns[who].all {
			n := style.count(u.columns[column].all[i])
			if n.value == nil {
				continue
			}
			if had, ok := least[name]; !ok || *n.value < had {
				least[name] = *n.value
			} else if *n.value >= 3*max(had, 1) {
				return true
			}
		}
	}
	return false
}

// takeCaption takes the title for the caption if there is no other text, and on YouTube, where
// the other text is a description.
func (u *understanding) takeCaption() {
	title, ok := u.at["title"]
	if !ok && !u.has("caption") && u.tool == nil { // a column Content of texts
		for i := range u.columns {
			if c := &u.columns[i]; c.Field == "" && c.known && c.meaning.field == "externalId" && !c.saysID() && len(c.values) > 0 && !u.suits("externalId", c) {
				u.take("caption", i, "texts, and no ids")
				return
			}
		}
	}
	if !ok || u.tool != nil {
		return
	}
	caption, has := u.at["caption"]
	if has && u.constants["platform"] != "youtube" {
		return
	}
	u.at["caption"] = title
	if has {
		u.metadata = map[string]string{"description": u.header[caption]}
		u.columns[caption].Field = "metadata.description"
	}
}

// platformHints are words in names of columns that only one platform's tables have.
var platformHints = map[string]string{
	"channelid": "youtube", "channeltitle": "youtube", "subscribers": "youtube", "dislikes": "youtube", "categoryid": "youtube", "youtubeid": "youtube", "ytid": "youtube", "channelname": "youtube",
	"shortcode": "instagram", "takenat": "instagram", "reelid": "instagram", "ownerusername": "instagram", "tiktokid": "tiktok", "awemeid": "tiktok", "diggcount": "tiktok", "videodiggcount": "tiktok", "playcount": "",
}

// takePlatform finds out whose videos a table has if no column says it.
func (u *understanding) takePlatform(file string) {
	if u.has("platform") || u.constants["platform"] != "" {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field == "" && !c.known && len(c.values) > 0 && c.share(func(s string) bool { return ownIDs(platformOf(s)) }) == len(c.values) {
			u.take("platform", i, "all of its values name platforms")
			return
		}
	}
	id, hasID := u.at["externalId"]
	if url, ok := u.at["sourceUrl"]; ok && (!hasID || u.columns.everyLink(url, id)) {
		if u.columns[url].links > 0 {
			return // each address says it
		}
	}
	if !hasID {
		return
	}
	ids := u.columns[id]
	ids.values = slices.DeleteFunc(slices.Clone(ids.values), errorCell().MatchString) // they name no video
	c, forms := &ids, map[string]int{}
	for _, value := range c.values {
		switch l := readLink(value); {
		case l.platform != "":
			forms["link"]++
		case scientific().MatchString(plainCell(value)):
			forms["rounded"]++ // each is refused
		default:
			forms[idForm(value)]++
		}
	}
	hints := map[string]bool{}
	for _, name := range u.header {
		if hint := platformHints[foldName(name)]; hint != "" {
			hints[hint] = true
		}
	}
	named := map[string]bool{}
	for _, token := range nameTokens(file + " " + strings.Join(u.header, " ")) {
		if platform := platformWords[token]; platform != "" {
			named[platform] = true
		}
	}
	only := func(all map[string]bool, platform string) bool { return len(all) == 1 && all[platform] }
	if other := u.columns.elsewhere(id); other >= 0 && forms["link"] == 0 {
		u.doubt("the addresses in %q are those of another site: no column says which platform it is", u.header[other])
		return
	}
	switch codes := forms["youtube"] + forms["code"]; {
	case forms["link"] > 0 && c.mostly(forms["link"]):
	case c.mostly(forms["tiktok"]), forms["tiktok"] > 0 && c.mostly(forms["tiktok"]+forms["rounded"]):
		u.constants["platform"] = "tiktok"
	case c.mostly(codes) && hints["instagram"] && !hints["youtube"], foldName(c.Name) == "shortcode":
		u.constants["platform"] = "instagram"
	case c.mostly(codes) && (hints["youtube"] && !hints["instagram"] || only(named, "youtube")):
		u.constants["platform"] = "youtube"
	case c.mostly(codes) && only(named, "instagram"):
		u.constants["platform"] = "instagram"
	case c.mostly(codes) && forms["tiktok"] == 0 && forms["youtube"] > forms["code"]:
		u.constants["platform"] = "youtube" // Instagram's begin with B, C or D, and one in twenty of these
	case len(hints) == 1 && !c.mostly(codes):
		for platform := range hints {
			u.constants["platform"] = platform
		}
	case only(named, "tiktok"):
		u.constants["platform"] = "tiktok"
	}
	if u.constants["platform"] == "" && len(c.values) > 0 && c.share(func(s string) bool { return scientific().MatchString(plainCell(s)) }) == len(c.values) {
		u.doubt("a spreadsheet has rounded the ids in %q, as %s: export the column as text, or add the column of addresses", c.Name, c.values[0])
		return
	}
	if u.constants["platform"] == "" && forms["link"] == 0 {
		u.doubt("no column says which platform the videos are of, and their ids do not show it")
	}
}

// elsewhere is a column of addresses that end in the ids and are of no platform that is known by its addresses; -1
// without one.
func (cs sampleColumns) elsewhere(id int) int {
	return slices.IndexFunc(cs, func(c sampleColumn) bool {
		ends := 0
		for i, value := range c.all {
			at, err := url.Parse(value)
			if key := cs[id].all[i]; key != "" && err == nil && at.Host != "" && readLink(value).kind == noLink && path.Base(at.Path) == key {
				ends++
			}
		}
		return c.meaning.field == "sourceUrl" && c.mostly(ends)
	})
}

// everyLink reports whether each row with an id has an address.
func (cs sampleColumns) everyLink(url, id int) bool {
	for i, value := range cs[id].all {
		if value != "" && cs[url].all[i] == "" {
			return false
		}
	}
	return true
}

// types are the columns that say what kind of post a row is.
func (u *understanding) types() (all []int) {
	best, ok := u.at[meansType]
	for i := range u.columns {
		if ok && i == best || u.tool == nil && u.columns[i].Field == "" && u.columns[i].known && u.columns[i].meaning.field == meansType {
			all = append(all, i)
		}
	}
	return all
}

// describe says of each column that was not used why.
func (cs sampleColumns) describe() {
	for i := range cs {
		c := &cs[i]
		switch {
		case c.Field != "" || c.Reason != "":
		case len(c.values) == 0:
			c.Reason = "empty"
		case c.known && c.meaning.field == meansIgnored:
			c.Reason = "known, not kept"
		case c.known:
			c.Reason = "another column is the " + c.meaning.field
		default:
			c.Reason = "not known"
		}
	}
}

// list are the columns as the report has them.
func (cs sampleColumns) list() []Column {
	out := make([]Column, len(cs))
	for i := range cs {
		out[i] = cs[i].Column
	}
	return out
}

// mapOf is the understanding as a column map. With a doubt it is one to start from.
func (u *understanding) mapOf() *Map {
	m := &Map{Columns: map[string]string{}, Constants: map[string]string{}, TimeLayouts: u.layouts, DurationUnit: u.durationUnit, Metadata: u.metadata}
	for field, at := range u.at {
		if slices.Contains(fields, field) {
			m.Columns[field] = u.header[at]
		}
	}
	maps.Copy(m.Constants, u.constants)
	if len(u.doubts) > 0 { // what is to be filled in
		for _, field := range []string{"externalId", "views"} {
			if m.Columns[field] == "" && (field == "views" || m.Columns["sourceUrl"] == "") {
				m.Columns[field] = ""
			}
		}
		if m.Columns["platform"] == "" && m.Columns["sourceUrl"] == "" && m.Constants["platform"] == "" {
			m.Constants["platform"] = ""
		}
	}
	if m.DurationUnit == "seconds" || m.DurationUnit == "days" || m.DurationUnit == shiftedClock {
		m.DurationUnit = ""
	}
	if u.tool != nil {
		m.Metadata = map[string]string{}
		for name, column := range u.tool.columns.Metadata {
			if at := columnAt(u.header, column); at >= 0 {
				m.Metadata[name] = u.header[at]
			}
		}
	}
	return m
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
