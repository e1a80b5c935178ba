package formats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// identify finds out which video a row is of.
func (t *rowTable) identify(rec *stage.Record) *fault {
	name, id, address := t.text("platform"), strings.TrimSpace(shownLetters(t.text("externalId"))), strings.TrimSpace(shownLetters(t.text("sourceUrl")))
	if f := t.noVideo(id, address); f != nil {
		return f
	}
	found := readLink(address)
	if found.kind == videoLink && severalVideos(address, found.id) {
		return &fault{NoID, "two addresses of videos in one cell"}
	}
	if inID := readLink(id); inID.kind != noLink {
		if id = inID.id; found.kind == noLink || found.kind == profileLink {
			found = inID
		}
	}
	platform := platformOf(name)
	if platform == "" {
		if platform = found.platform; platform == "" {
			return &fault{NoID, fmt.Sprintf("platform: %.20q is missing or cannot name one", name)}
		}
	}
	if found.platform != platform {
		found = link{}
	}
	if found.kind == photoLink {
		return &fault{NotVideo, "an address of photos, a story or a page"}
	}
	id, problem := t.mend(platform, id)
	if found.kind == profileLink && t.inferred && ownIDs(platform) && (idForm(id) == "" || idForm(id) == "other") {
		return &fault{NotVideo, "an address of a profile, and no id of a video"}
	}
	switch {
	case found.kind == videoLink && (id == "" || problem != "" || platform == "instagram" || platform == "tiktok" && t.inferred && idForm(id) == "other"):
		id, problem = found.id, ""
	case found.kind == videoLink && id != found.id:
		return &fault{NoID, fmt.Sprintf("externalId %.30q and the address name different videos", id)}
	case found.kind == shortLink && id == "":
		problem = "a short address, which the platform alone can resolve: export the full address or the id"
	}
	if problem != "" {
		return &fault{NoID, "externalId: " + problem}
	}
	if !usableID(id) {
		return &fault{NoID, fmt.Sprintf("externalId: %.20q is missing or cannot name a video", id)}
	}
	rec.Ref = stage.Ref{Platform: platform, ExternalID: id}
	if found.led {
		address = found.address
	}
	if rec.SourceURL = webAddress(address); rec.SourceURL == "" && found.kind == videoLink {
		rec.SourceURL = webAddress(found.address)
	}
	t.link = found
	return nil
}

// severalVideos reports an address of another video than that of the id behind it in the same cell.
func severalVideos(text, id string) bool {
	if strings.LastIndex(text, "http") <= 0 {
		return false // as nearly all
	}
	for _, rest := range strings.Split(text, "http")[1:] {
		if other := readLink("http" + rest); other.kind == videoLink && other.id != id {
			return true
		}
	}
	return false
}

// headerAgain reports a row of names of columns, in the present order or another one.
func (t *rowTable) headerAgain(id, address string) bool {
	if key := cmp.Or(id, address); key == "" || !slices.Contains(t.header, key) {
		return false
	}
	names := 0
	for _, cell := range t.row {
		if len(cell) > 0 && slices.Contains(t.header, strings.TrimSpace(string(cell))) {
			names++
		}
	}
	return names > 1 && 2*names > len(t.row)
}

// typeWords name the types and units of columns, as a second header of a table does.
var typeWords = wordSet("string str text char varchar int int32 int64 integer bigint number numeric float float64 double decimal bool boolean date datetime timestamp object " +
	"count counts seconds sec percent utc url")

// rowOfTypes reports a row that says of two or more columns what type or unit they have, and nothing else.
func rowOfTypes[T string | []byte](row []T) bool {
	types := 0
	for _, cell := range row {
		if len(cell) > 12 { // as an id or an address, before it is copied
			return false
		}
		text := strings.Trim(string(cell), " ()[]<>")
		switch {
		case text == "":
		case !typeWords[strings.ToLower(text)]:
			return false
		default:
			types++
		}
	}
	return types > 1
}

// noVideo recognises rows that are about no video: blank ones, totals and repeated headers.
func (t *rowTable) noVideo(id, address string) *fault {
	if key := cmp.Or(id, address); key != "" && len(key) < 60 && !strings.ContainsAny(key, "0123456789/") && t.words.total[foldName(key)] {
		return &fault{NotVideo, "a row of totals"}
	}
	if t.headerAgain(id, address) {
		t.other = !slices.EqualFunc(t.row, t.header, func(cell []byte, name string) bool { return strings.TrimSpace(string(cell)) == name })
		return &fault{NotVideo, "the header again"}
	}
	if rowOfTypes(t.row) {
		return &fault{NotVideo, "a row of the types of the columns"}
	}
	if t.other {
		return &fault{Malformed, "below another header: put that table in a file of its own"}
	}
	if id != "" || address != "" {
		return nil
	}
	blank := true
	for _, cell := range t.row {
		text := strings.TrimSpace(string(cell))
		if len(text) < 60 && t.words.total[foldName(text)] {
			return &fault{NotVideo, "a row of totals"}
		}
		blank = blank && text == ""
	}
	if blank {
		return &fault{NotVideo, "an empty row"}
	}
	return nil
}

var (
	scientific  = lazy.Pattern(`^\d([.,]\d+)?[eE]\+?\d+$`)
	zeroDecimal = lazy.Pattern(`^\d+[.,]0+$`)
	errorCell   = lazy.Pattern(`^(#([A-Z]+[!?/]|N/A)|Loading(\.\.\.|…)$)`)
)

// groupedID is an id that a spreadsheet shows as a number: 7,290,000,000,000,003,901.
var groupedID = lazy.Pattern(`^\d{1,3}([,. '’\x{a0}\x{202f}]\d{3}){5,6}$`)

// plainID is an id without what a spreadsheet puts around and into it.
func plainID(text string) string {
	id := strings.Trim(plainCell(strings.TrimSpace(text)), ` '"`)
	if len(id) > 20 && groupedID().MatchString(id) {
		return strings.Map(func(r rune) rune {
			if isDigit(r) {
				return r
			}
			return -1
		}, id)
	}
	return id
}

// mend undoes what spreadsheets do to ids, and says in words what cannot be undone.
func (t *rowTable) mend(platform, text string) (id, problem string) {
	id = plainID(text)
	switch {
	case id == "":
		return "", ""
	case strings.IndexByte("eE.,#", id[0]) < 0 && !strings.ContainsAny(id[1:], "eE.,"): // none of the next
	case scientific().MatchString(id):
		return id, fmt.Sprintf("a spreadsheet has rounded it to %.30s: export the column as text, or add the column of addresses", id)
	case errorCell().MatchString(id):
		return id, fmt.Sprintf("%.20s is an error of a spreadsheet: export the column as text", id)
	case zeroDecimal().MatchString(id):
		id = id[:strings.IndexAny(id, ".,")]
	}
	switch {
	case platform == "youtube" && !youtubeID(id):
		return id, fmt.Sprintf("%.30q is none: an id of YouTube has 11 characters", id)
	case platform == "tiktok" && !allDigits(id):
		return id, fmt.Sprintf("%.30q is none: ids of TikTok are digits", id)
	case platform == "tiktok" && t.rounded && len(id) >= 17:
		return id, "a spreadsheet has rounded the ids, all end in zeros: export the column as text, or add the column of addresses"
	case platform == "tiktok" && t.someRounded && len(id) >= 17 && strings.HasSuffix(id, spreadsheetZeros):
		return id, "a spreadsheet has rounded it, it ends in zeros: export the column as text, or add the column of addresses"
	case platform == "instagram" && (allDigits(strings.ReplaceAll(id, "_", "")) && len(id) > 14):
		return t.instagramNumber(id)
	}
	return id, ""
}

// instagramNumber is the shortcode of Instagram's number of a media.
func (t *rowTable) instagramNumber(id string) (code, problem string) {
	number, _, _ := strings.Cut(id, "_")
	switch {
	case len(number) == 17:
		return id, "an id of the Graph API, which says nothing to others: add the column of addresses or shortcodes"
	case t.rounded:
		return id, "a spreadsheet has rounded the ids, all end in zeros: export the column as text, or add the column of addresses"
	}
	return codeOf(number), ""
}

// kindTexts are what a row says of its kind of post: a column may say `Post`, and another `Photo`.
func (t *rowTable) kindTexts(yield func(string) bool) {
	for _, at := range t.types {
		text := string(t.row[at])
		if name := foldName(t.header[at]); name == "islive" || name == "isupcoming" { // a yes or a no
			if yesOrNo(text) < 1 {
				continue
			}
			text = name
		}
		if text != "" && !yield(text) {
			return
		}
	}
}

// notVideoWords are kinds of posts that are no videos; liveWords are running streams.
var (
	notVideoWords = wordSet("photo photos image images picture carousel carouselalbum album sidecar graphsidecar graphimage xdtgraphimage xdtgraphsidecar story stories slideshow igimage igphoto " +
		"igcarousel igstory igalbum text link links status article poll seed offcut headers unpacked imagepost photopost foto fotos fotografia bild bilder imagen imagenes imagem imagens immagine immagini afbeelding channel playlist profile account user hashtag comment " +
		"carosello karussell carrusel carrossel karuzela карусель カルーセル 캐러셀 diaporama storia historia historie история сторис ストーリーズ 스토리 快拍 " +
		"imagecarousel static staticpost singleimage singlephoto 写真 画像 图片 图文 圖片 이미지 사진 фото фотография resim gorsel zdjecie صورة صور")
	liveWords     = wordSet("live islive livestream")
	upcomingWords = wordSet("upcoming isupcoming premiere scheduled")
)

// kindNoise are words beside that of the kind: IG-Karussell, Carrusel de IG.
var kindNoise = wordSet("ig instagram facebook fb tiktok post posts feed graph xdt single de di da do du sur auf in на beitrag publicacion publicacao publication")

// notVideoKind reports the name of a kind of post that is no video.
func notVideoKind(text string) bool {
	if notVideoWords[foldName(text)] {
		return true
	}
	tokens := nameTokens(text)
	kind := slices.DeleteFunc(slices.Clone(tokens), func(token string) bool { return kindNoise[token] })
	return len(kind) > 0 && len(kind) < len(tokens) && notVideoWords[strings.Join(kind, "")]
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[foldName(word)] = true
	}
	return set
}

// kindFault refuses a row that says that it is no video, or none yet.
func (t *rowTable) kindFault(platform string) *fault {
	for text := range t.kindTexts {
		if platform == "instagram" && (text == "1" || text == "8" || text == "1.0" || text == "8.0") {
			return &fault{NotVideo, "a photo or an album, by Instagram's number of its kind"}
		}
		switch {
		case notVideoKind(text):
			return &fault{NotVideo, fmt.Sprintf("a post of the kind %.30q", text)}
		case upcomingWords[foldName(text)]:
			return &fault{Unavailable, "not published yet"}
		}
	}
	if at, ok := t.at[meansReel]; ok && platform == "instagram" && foldName(string(t.row[at])) == "post" {
		return &fault{NotVideo, "a post, where others are reels"}
	}
	if at, ok := t.at[meansVideo]; ok && yesOrNo(string(t.row[at])) < 0 {
		return &fault{NotVideo, "no video, by its own column"}
	}
	if at, ok := t.at[meansPhoto]; ok && yesOrNo(string(t.row[at])) > 0 {
		return &fault{NotVideo, "a post of photos, by its own column"}
	}
	return nil
}

// yesWords and noWords are how programs, and spreadsheets in other languages, write a yes and a no.
var (
	yesWords = wordSet("true yes 1 y t ja si sim oui da tak evet wahr vrai vero verdadero verdadeiro waar sann sand prawda pravda tosi igaz dogru benar adevarat истина да так 是 はい 예 真 참 نعم")
	noWords  = wordSet("false no 0 n f nein nao non nie ne hayir falsch faux falso onwaar falskt falsk usann falsz nepravda epatosi hamis yanlis salah fals ложь нет ні 否 いいえ 아니요 아니오 假 거짓 لا")
)

// yesOrNo is 1 for a yes, -1 for a no and 0 for anything else.
func yesOrNo(s string) int {
	word := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), ".0")
	if !yesWords[word] && !noWords[word] && strings.ContainsFunc(word, unicode.IsLetter) {
		word = foldName(word)
	}
	switch {
	case yesWords[word]:
		return 1
	case noWords[word]:
		return -1
	}
	return 0
}

// handle is the creator's handle in a row, also out of the address of a profile or a video.
func (t *rowTable) handle(rec *stage.Record) string {
	text := strings.TrimSpace(shownLetters(t.text("handle")))
	if hiddenWords[strings.ToLower(text)] {
		text = ""
	}
	if l := readLink(text); l.kind != noLink {
		if l.creator != "" && rec.CreatorID == "" {
			rec.CreatorID = l.creator
		}
		text = l.handle
	}
	if id := strings.TrimSpace(t.text("creatorId")); t.inferred && text == "" && !creatorIDOf(rec.Platform, id) {
		text = id // some call the handle an id
	}
	if known := t.link.handle; known != "" && (text == "" || !strings.EqualFold(strings.TrimPrefix(text, "@"), known) && (t.named || t.inferred && !handleForm(text))) {
		text = known
	}
	return text
}

// handleForm reports a text in the form of TikTok's and Instagram's handles, which have no capitals.
func handleForm(text string) bool {
	return strings.Trim(strings.TrimPrefix(text, "@"), "abcdefghijklmnopqrstuvwxyz0123456789._") == ""
}

// creatorIDOf reports whether an id of a creator may be one of the platform: those of TikTok and
// Instagram are digits, or TikTok's longer form.
func creatorIDOf(platform, id string) bool {
	if platform != "tiktok" && platform != "instagram" {
		return true
	}
	return id == "" || strings.Trim(id, "0123456789.,eE+") == "" || strings.HasPrefix(id, "MS4w")
}

// creator is the platform's id of the creator in a row.
func (t *rowTable) creator(platform string) string {
	text := strings.TrimSpace(plainCell(t.text("creatorId")))
	switch l := readLink(text); {
	case l.creator != "":
		return l.creator
	case l.kind != noLink, scientific().MatchString(text), t.inferred && !creatorIDOf(platform, text):
		return ""
	case zeroDecimal().MatchString(text):
		return text[:strings.IndexAny(text, ".,")]
	}
	return text
}
