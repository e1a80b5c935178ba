package formats

import (
	"slices"
	"strings"
)

// check adds the doubts that remain.
func (u *understanding) check(style numberStyle) {
	id, hasID := u.at["externalId"]
	url, hasURL := u.at["sourceUrl"]
	if !hasID && (!hasURL || u.columns[url].links == 0) {
		u.doubts = slices.Insert(u.doubts, 0, "no column has ids or addresses of videos")
	}
	if len(u.header) == 1 && hasURL && strings.Contains(u.header[0], "  ") {
		u.doubt("its columns are divided by blanks: write them as CSV")
	}
	for i := range u.columns {
		c := &u.columns[i]
		words := func(s string) bool {
			return !u.isCount(s) && !hiddenWords[strings.ToLower(s)] && yesOrNo(s) == 0 && s[0] != '#'
		}
		if u.tool == nil && c.known && (c.meaning.field == meansComment && !(u.has("views") && foldName(c.Name) == "authordisplayname") || c.meaning.field == "comments" && len(c.values) > 0 && c.mostly(c.share(words)) && (!u.has("views") || !remarkWords[foldName(c.Name)] || u.recurs(i))) {
			u.doubt("%q is a column of comments, not of videos", c.Name)
			break
		}
	}
	if caption, ok := u.at["caption"]; ok && (hasID || hasURL) && u.tool == nil && !u.has("observedAt") && u.columns[caption].meaning.field != "title" {
		if rows, other := u.again(caption, nil); 2*other > rows { // a few texts may have been edited
			u.doubt("rows with the same video have other texts in %q: they may be comments", u.columns[caption].Name)
		}
	}
	if who, ok := u.at["handle"]; ok && (hasID || hasURL) && u.tool == nil && !u.has("views") {
		if rows, other := u.again(who, nil); 2*other > rows {
			u.doubt("rows with the same video have other names in %q: they may be comments", u.columns[who].Name)
		}
	}
	if hasID && !hasURL && u.tool == nil && u.columns[id].anyID() && !u.has("postedAt") && !u.has("kind") && !slices.ContainsFunc(countFields[:5], u.has) {
		u.doubt("nothing says that the ids in %q are those of videos, as sounds and accounts have such too: no count, no time and no address", u.header[id])
	}
	if url, ok := u.at["sourceUrl"]; ok && !hasID && u.tool == nil && u.columns.oneOfMany(url) {
		u.doubt("%q has one video of each account, so that the counts may be those of the accounts", u.columns[url].Name)
	}
	if u.accounts() {
		u.doubt("each row may be an account, a sound or a hashtag, with its number of videos")
	}
	if c := u.columns.oddKinds(); c != nil {
		u.doubt("%q says what is a video, in words that are not known, such as %q", c.Name, c.values[0])
	}
	u.checkParts()
	if posted, ok := u.at["postedAt"]; ok && u.tool == nil && !u.has("views") && u.has("likes") {
		if after, _ := u.after(posted); after {
			u.doubt("the times in %q are after those of the videos: each row may be a comment", u.columns[posted].Name)
		}
	}
	if several := u.columns.platforms(); len(several) > 1 && u.tool == nil {
		u.doubt("a row has columns of several platforms (%s): make a row of each video", strings.Join(several, ", "))
	}
	leaveZeros(u, style)
	u.checkViews(style)
	if likes, ok := u.at["likes"]; ok && u.has("views") && u.tool == nil && u.columns.above(likes, u.at["views"], style) {
		u.doubt("%q has more likes than %q has views: one of them may be of something else", u.header[likes], u.header[u.at["views"]])
	}
	if id, ok := u.at["externalId"]; ok && u.tool == nil && studioWords[foldName(u.header[id])] && u.has("postedAt") && u.columns.dated(u.at["postedAt"]) {
		u.doubt("it has the views of single days, not those of the videos: export the table, which has no column of days")
	}
	if u.falls(style) {
		u.doubt("the counts in %q often fall where a video recurs: they may be those of single days", u.columns[u.at["views"]].Name)
	}
}

// leaveZeros leaves views that are 0 in each row while some have likes: no one counted them.
func leaveZeros(u *understanding, style numberStyle) {
	at, ok := u.at["views"]
	likes, has := u.at["likes"]
	if !ok || !has || u.tool != nil || len(u.columns[at].values) == 0 {
		return
	}
	c := &u.columns[at]
	zero := func(s string) bool { n := style.count(s); return n.value != nil && *n.value == 0 }
	if c.share(zero) == len(c.values) && u.columns.above(likes, at, style) {
		delete(u.at, "views")
		c.Field, c.Reason = "", "0 in each row, also in those with likes: it was not counted"
	}
}

// remarkWords name a column of what someone has to say of a video: a comment of others is named by one.
var remarkWords = wordSet("comments kommentare commentaires comentarios comentários commenti reacties")

// studioWords name the column of ids in what YouTube Studio exports.
var studioWords = wordSet("content inhalt inhalte contenido conteudo contenu contenuto contenuti inhoud treść konten içerik innehåll indhold obsah контент вміст コンテンツ 콘텐츠 内容 內容 konten tartalom conținut sisältö περιεχόμενο المحتوى เนื้อหา nộidung")

// dated reports a column of plain times beside that of the posts.
func (cs sampleColumns) dated(posted int) bool {
	for i, c := range cs {
		if i != posted && c.known && c.meaning.field == meansTime && len(c.values) > 0 {
			return true
		}
	}
	return false
}

// rival reports a column that is as good as another one of the same count, and has other numbers.
func (u *understanding) rival(c, than *sampleColumn) bool {
	if 2*len(c.values) < len(than.values) || c.ofVideo() != than.ofVideo() {
		return false
	}
	style, differ := numberStyle{languages: u.languages}, 0
	for i, value := range c.all {
		a, b := style.count(value), style.count(than.all[i])
		if a.value != nil && b.value != nil && 20*abs(*a.value-*b.value) > max(*a.value, *b.value) {
			differ++
		}
	}
	return c.mostly(2 * differ)
}

// oneOfMany reports a column of addresses that is named for one video of an account, such as the last.
func (cs sampleColumns) oneOfMany(column int) bool {
	return slices.ContainsFunc(nameTokens(cs[column].Name), func(token string) bool {
		return slices.Contains([]string{"last", "latest", "top", "best", "pinned", "newest", "recent", "example", "sample"}, token)
	})
}

// platforms are those that the names of counts, ids and addresses say, if they are not the same.
func (cs sampleColumns) platforms() (named []string) {
	for i := range cs {
		c := &cs[i]
		if len(c.values) == 0 || !c.mostly(c.links) && (!c.known || !slices.Contains(append(countFields[:4:4], meansPlays, "externalId"), c.meaning.field)) {
			continue
		}
		for _, token := range nameTokens(c.Name) {
			if platform := platformWords[token]; platform != "" && !slices.Contains(named, platform) {
				named = append(named, platform)
			}
		}
	}
	return named
}

// falls reports views that fall from one reading of a video to the next in three of ten cases, or in both of two.
func (u *understanding) falls(style numberStyle) bool {
	views, ok := u.at["views"]
	seen, has := u.at["observedAt"]
	id, hasID := u.key()
	if !ok || !has || !hasID {
		return false
	}
	type reading struct{ at, views int64 }
	last := map[string]reading{}
	steps, falls := 0, 0
	for i, name := range u.columns[id].all {
		clock := timeStyle{layouts: u.layouts, order: "dmy"}
		at, ok := clock.read(u.columns[seen].all[i])
		n := style.count(u.columns[views].all[i])
		if !ok || n.value == nil || *n.value == 0 {
			continue
		}
		if had, again := last[name]; again && had.at != at.at {
			steps++
			if (*n.value < had.views) == (at.at > had.at) && *n.value != had.views {
				falls++
			}
		}
		last[name] = reading{at.at, *n.value}
	}
	return steps >= 3 && 10*falls >= 3*steps || steps == 2 && falls == steps
}

// checkViews asks about a column of numbers that may be the views.
func (u *understanding) checkViews(style numberStyle) {
	if u.has("views") {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		numbers := c.share(func(s string) bool {
			n := style.count(s)
			return n.value != nil && len(s) < 15
		})
		if c.Field != "" || c.known || numbers == 0 || c.share(unixTime) == len(c.values) || !c.mostly(numbers+c.share(func(s string) bool { return hiddenWords[strings.ToLower(s)] })) {
			continue
		}
		if likes, ok := u.at["likes"]; !ok || !u.columns.above(likes, i, style) {
			u.doubt("no column is known to have the views; %q may have them", c.Name)
			return
		}
	}
}

// unixTime reports a number of seconds or milliseconds of our years.
func unixTime(s string) bool {
	return allDigits(s) && s[0] == '1' && (len(s) == 10 || len(s) == 13)
}

// oddKinds is a column that says whether a row is a video, in two words that are not known; nil without one.
func (cs sampleColumns) oddKinds() *sampleColumn {
	for i := range cs {
		c := &cs[i]
		if c.Field != "" || !c.known || c.meaning.field != meansVideo && c.meaning.field != meansPhoto ||
			slices.ContainsFunc(cs, func(other sampleColumn) bool { return other.Field == c.meaning.field }) {
			continue
		}
		words, short := map[string]bool{}, 0
		for _, value := range c.values {
			words[foldName(value)] = true
			if len(value) < 40 {
				short++
			}
		}
		if short > 0 && short == len(c.values) && len(words) <= 2 {
			return c
		}
	}
	return nil
}

// anyID reports numbers of TikTok under a name that says no more than that they are ids.
func (c *sampleColumn) anyID() bool {
	return slices.Contains([]string{"id", "idstr", "code"}, foldName(c.Name)) && c.mostly(c.share(func(s string) bool { return idForm(s) == "tiktok" }))
}

// checkParts asks about views that are divided: rows of a video with other views that differ in a column
// of words, or one whose values come again with other videos, such as countries or ages.
func (u *understanding) checkParts() {
	views, ok := u.at["views"]
	if !ok || u.has("observedAt") || u.tool != nil {
		return
	}
	style := numberStyle{languages: u.languages, words: u.words}
	if rows, other := u.again(views, func(a, b string) bool { // a few more are those of a later look
		m, n := style.count(a).value, style.count(b).value
		return m == nil || n == nil || 20*abs(*m-*n) > max(*m, *n)
	}); other == 0 || 2*other < rows {
		return
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.Field != "" || len(c.values) < len(c.all) {
			continue
		}
		values := map[string]bool{}
		for _, value := range c.values {
			values[value] = true
		}
		words := c.share(func(s string) bool { return u.isCount(s) || timeLike(s, nil) || readLink(s).kind != noLink }) == 0
		if rows, other := u.again(i, nil); other == rows && (words || len(values) < len(c.values)) {
			u.doubt("a video recurs with other views and another %q: each row may be a part of them", c.Name)
			return
		}
	}
}

// above reports counts that are more than those of another column in half of the rows or more.
func (cs sampleColumns) above(column, than int, style numberStyle) bool {
	more, both := 0, 0
	for row, value := range cs[column].all {
		a, b := style.count(value), style.count(cs[than].all[row])
		if a.value == nil || b.value == nil {
			continue
		}
		if both++; *a.value > *b.value {
			more++
		}
	}
	return both > 0 && 2*more >= both
}

// accounts reports a table whose only ids may be those of accounts, sounds or hashtags, as it has their
// numbers of videos, and nothing that only a video has.
func (u *understanding) accounts() bool {
	if u.tool != nil || u.has("sourceUrl") || u.has("caption") || u.has("title") || u.has("postedAt") || u.has("durationSeconds") {
		return false
	}
	at, ok := u.at["externalId"]
	return ok && !u.columns[at].ofVideo() && slices.ContainsFunc(u.header, func(name string) bool {
		return slices.Contains([]string{"videocount", "videos", "videoscount", "mediacount", "media", "posts", "postcount", "postscount", "numberofvideos"}, foldName(name))
	})
}

// after reports a column of times that are mostly later than those in TikTok's ids; compared is false
// if there are none.
func (u *understanding) after(column int) (after, compared bool) {
	both, later := 0, 0
	for i, value := range u.columns[column].all {
		style := timeStyle{layouts: u.layouts, order: "dmy"}
		by := u.postedByID(i)
		if at, ok := style.read(value); ok && by > 0 {
			if both++; at.at > by+24*3600*1000 {
				later++
			}
		}
	}
	return 2*later > both, both > 0
}
