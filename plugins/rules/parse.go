package rules

import (
	"slices"
	"strings"
	"time"
)

// parser reads the parts of one clause.
type parser struct {
	*lexicon
	now  time.Time
	mode mode
	all  bool
	// last is the comparison that a later bare number takes over, with its field.
	last  *comparison
	field Field
	// saying: what follows is what a video says, and strict: it must.
	saying, strict bool
	// in is the part of the text that the clause is about.
	inPart Part
	// known reports words of the brief.
	known func(stem string) bool
	// bared is the answer of bare for the part that starts at baredOf.
	bared   *bool
	baredOf *token
}

// part is what is between two conjunctions.
type part struct {
	conditions []Condition
	pending    *Condition
	// lost are words that no condition could be made of.
	lost []string
	// on marks "… on TikTok".
	on bool
	// named says that it names a part of the text.
	named bool
	// people marks a part about creators: a bare number is one of followers.
	people bool
	// or and and mark a part behind such a word.
	or, and bool
	// noun marks a part that says "videos" itself.
	noun bool
}

// parts reads the parts of a clause; a number without a unit takes that of the
// next part: "under 15 or over 60 seconds".
func (p *parser) parts(tokens []token) []part {
	var all []part
	from := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && !conjunction(tokens[i]) {
			continue
		}
		if i > from {
			one := p.part(tokens[from:i])
			if one.named && p.inPart == "" && slices.ContainsFunc(all, part.worded) { // "no giveaways in speech or captions"
				one.lost = append(one.lost, "where the words before are")
			}
			one.or, one.and = from > 0 && tokens[from-1].text == "or", from > 0 && tokens[from-1].text == "and"
			one.noun = slices.ContainsFunc(tokens[from:i], func(t token) bool { return t.kind == word && p.lexicon.in("object", t.text) })
			all = append(all, one)
		}
		from = i + 1
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].pending == nil {
			continue
		}
		c := *all[i].pending
		if i+1 < len(all) {
			for _, next := range all[i+1].conditions {
				if next.numeric() && next.Field != Posted && c.Field == "" {
					c.Field, c.Unit = next.Field, next.Unit
				}
			}
		}
		if c.Field == "" && all[i].people && c.Number >= fewestFollowers {
			c.Field = Followers // "creators under 100k", unlike "creators over 30"
		}
		if c.Field == "" && i > 0 { // "at least 30 seconds, at most 90"
			for _, before := range all[i-1].conditions {
				if before.numeric() && before.Field != Posted && before.Op != "" && before.Op[0] != c.Op[0] {
					c.Field, c.Unit = before.Field, before.Unit
				}
			}
		}
		if c.Field == "" || c.Field == Engagement || c.Field == LikeRate {
			all[i].lost = append(all[i].lost, "a number without a unit")
			continue
		}
		all[i].conditions = append(all[i].conditions, c)
	}
	return all
}

func (p *parser) part(tokens []token) (out part) {
	used := make([]bool, len(tokens))
	out.people = p.ofPeople(tokens)
	in := p.inPart
	textual := slices.IndexFunc(tokens, func(t token) bool { return t.kind == quoted || p.meaningful(t) })
	for i := 0; i < len(tokens); i++ {
		of, next := p.partAt(tokens, i)
		if of == "" {
			p.saying = p.saying || tokens[i].kind == word && p.lexicon.in("say", tokens[i].text)
			continue
		}
		if in = of; i < textual {
			p.inPart, p.saying = of, p.saying || slices.ContainsFunc(tokens, func(t token) bool { return p.lexicon.in("contain", t.text) }) // "caption mentions "dm me" or "link in bio""
		}
		out.named = true
		for ; i < next; i++ {
			used[i] = true
		}
		i--
	}
	if p.mode != want && p.mode != soft { // "find hooks about …" means videos
		defer func() { out.within(in) }()
	}
	for i := 0; i < len(tokens); {
		found, pending, next := p.numericAt(tokens, i)
		if next == i {
			i++
			continue
		}
		if c, _, _ := comparisonAt(tokens, i); !c.age && slices.ContainsFunc(out.conditions, Condition.numeric) && slices.ContainsFunc(found, func(c Condition) bool { return c.Field == Age || c.Field == Duration }) &&
			slices.ContainsFunc(tokens[max(0, i-1):i+1], func(t token) bool { return t.text == "within" || t.text == "in" }) {
			out.lost = append(out.lost, "a count in a time") // "10k views within a day"
		}
		out.conditions = append(out.conditions, found...)
		if len(found) > 0 {
			p.field = found[0].Field
		}
		if pending != nil {
			out.pending = pending
		}
		for ; i < next; i++ {
			used[i] = true
		}
	}
	for i, t := range tokens { // "1 comment per 100 views" is no bound of either
		if p.lexicon.in("unbound", t.text) && !(t.text == "per" && i+1 < len(tokens) && p.lexicon.in("object", tokens[i+1].text)) && (out.pending != nil || slices.ContainsFunc(out.conditions, Condition.numeric)) {
			out.lost = append(out.lost, t.text)
		}
	}
	if out.people && slices.ContainsFunc(out.conditions, func(c Condition) bool { return c.Field == Age }) && !slices.ContainsFunc(tokens, func(t token) bool { return p.lexicon.in("post", t.text) }) {
		out.lost = append(out.lost, "the age of an account") // "accounts under 6 months old"
	}
	if in == "" && slices.ContainsFunc(out.conditions, func(c Condition) bool { return c.Field == Words }) {
		out.lost = append(out.lost, "words of what") // "at least 20 words spoken"
	}
	p.asking(tokens, used, in, &out)
	p.names(tokens, used, &out)
	p.words(tokens, used, &out)
	return out
}

// names reads handles, hashtags, platforms, languages, kinds and sounds.
func (p *parser) names(tokens []token, used []bool, out *part) {
	take := func(c Condition, places ...int) {
		for _, i := range places {
			used[i] = true
		}
		for i := range out.conditions {
			had := &out.conditions[i]
			if had.Field == c.Field && had.Not == c.Not && !had.numeric() && len(c.Values) > 0 {
				if c.Field == Language { // "English captions on German videos"
					out.lost = append(out.lost, "two languages")
				}
				had.Values = append(had.Values, c.Values...)
				return
			}
		}
		out.conditions = append(out.conditions, c)
	}
	for i, t := range tokens {
		if used[i] {
			continue
		}
		if t.kind == word && p.platforms[t.text] != "" && i > 0 && (tokens[i-1].text == "on" || tokens[i-1].text == "for") {
			out.on = true
		}
		not := i > 0 && tokens[i-1].kind == mark && tokens[i-1].text == "non"
		switch {
		case t.kind == handle && t.text != "":
			if i > 0 && (strings.HasPrefix(tokens[i-1].text, "mention") || strings.HasPrefix(tokens[i-1].text, "tag")) && p.mode != plain {
				take(Condition{Field: Text, Values: []string{"@" + t.text}}, i-1, i)
				continue
			}
			take(Condition{Field: Creator, Values: []string{t.text}}, i)
		case t.kind == hashtag:
			take(Condition{Field: Hashtag, Values: []string{t.text}}, i)
		case t.kind == word && i > 0 && tokens[i-1].kind == word && tokens[i-1].text == "hashtag" && !p.noise[t.text] && !used[i]:
			take(Condition{Field: Hashtag, Values: []string{strings.ReplaceAll(t.text, " ", "")}}, i)
		case t.kind == quoted && i > 0 && soundWord(tokens, i):
			for j := i - 1; j >= 0 && j >= i-3; j-- {
				used[j] = true
			}
			take(Condition{Field: Sound, Values: []string{t.text}}, i)
		case t.kind != word:
		case p.platforms[t.text] != "":
			take(Condition{Field: Platform, Values: []string{p.platforms[t.text]}, Not: not}, i)
			for near := max(0, i-1); near < min(i+2, len(tokens)); near++ {
				used[near] = used[near] || p.formats[tokens[near].text] != "" || tokens[near].text == "short"
			}
		case t.text == "tik" && i+1 < len(tokens) && strings.HasPrefix(tokens[i+1].text, "tok"):
			take(Condition{Field: Platform, Values: []string{"tiktok"}, Not: not}, i, i+1)
		case p.formatName(tokens, i, used):
			take(Condition{Field: Platform, Values: []string{p.formats[t.text]}, Not: not}, i)
		case p.languages[t.text] != "" && (not || p.meansLanguage(tokens, i)):
			take(Condition{Field: Language, Values: []string{p.languages[t.text]}, Not: not}, i)
		case t.text == "competitor" && i+1 < len(tokens) && tokens[i+1].kind == quoted: // "our competitor "Acme""
			used[i] = true
		case p.saying && p.lexicon.in("rival", t.text):
			out.lost = append(out.lost, t.text) // a competitor is mentioned: which?
		case t.text == "competitor" && i > 0 && (tokens[i-1].text == "our" || tokens[i-1].text == "my" || tokens[i-1].text == "the") && i+1 < len(tokens) && p.content(tokens[i+1:]) && !p.topical(tokens[i+1:]):
			out.lost = append(out.lost, "competitor") // "our competitor Acme": the word, or its videos?
		case p.lexicon.in("rival", t.text):
			take(Condition{Field: Kind, Values: []string{"competitor"}, Not: not}, i)
		case t.text == "own" && i > 0 && (tokens[i-1].text == "our" || tokens[i-1].text == "my"), t.text == "ours",
			t.text == "own" && !p.content(without(tokens, used, i)):
			take(Condition{Field: Kind, Values: []string{"own"}, Not: not}, i)
		case t.text == "niche" && !p.content(without(tokens, used, i)):
			take(Condition{Field: Kind, Values: []string{"niche"}, Not: not}, i)
		}
	}
}

func soundWord(tokens []token, at int) bool {
	for i := at - 1; i >= 0 && i >= at-3; i-- {
		if english().in("sound", tokens[i].text) {
			return true
		}
		if !english().in("named", tokens[i].text) {
			return false
		}
	}
	return false
}

// without are the tokens that are still to be read, less one.
func without(tokens []token, used []bool, at int) []token {
	var out []token
	for i, t := range tokens {
		if i != at && !used[i] {
			out = append(out, t)
		}
	}
	return out
}

// formatName reports shorts and reels as platforms, unlike those in "cargo shorts".
func (p *parser) formatName(tokens []token, at int, used []bool) bool {
	if format := p.formats[tokens[at].text] != ""; !format || at == 0 {
		return format
	}
	before := tokens[at-1]
	return used[at-1] || before.kind != word || p.noise[before.text] || p.languages[before.text] != ""
}

// meansLanguage reports a language as in "English videos", unlike "French press".
func (p *parser) meansLanguage(tokens []token, at int) bool {
	if at > 0 && p.in("language-before", tokens[at-1].text) || at+1 < len(tokens) && p.in("language-after", tokens[at+1].text) {
		return true
	}
	return p.bare(tokens)
}

// bare reports a part that names nothing but languages, platforms and numbers.
func (p *parser) bare(tokens []token) bool {
	if p.bared != nil && p.baredOf == &tokens[0] {
		return *p.bared
	}
	answer := p.isBare(tokens)
	p.bared, p.baredOf = &answer, &tokens[0]
	return answer
}

func (p *parser) isBare(tokens []token) bool {
	for i, t := range tokens {
		if t.kind == mark || t.kind == word && (p.noise[t.text] || p.languages[t.text] != "") {
			continue
		}
		if t.kind == word && p.platforms[t.text] != "" || t.kind == number || t.kind == word && (p.measures(t.text) || p.numbers[t.text] > 0) {
			continue
		}
		if _, _, ok := comparisonAt(tokens, i); ok {
			continue
		}
		return false
	}
	return true
}

// words makes what is left over into phrases that a text mentions.
func (p *parser) words(tokens []token, used []bool, out *part) {
	for i := 0; i < len(tokens); {
		if used[i] || tokens[i].kind == mark {
			i++
			continue
		}
		end := i
		for end < len(tokens) && !used[end] && tokens[end].kind != mark && (tokens[end].kind != quoted || end == i) {
			end++
			if tokens[end-1].kind == quoted {
				break
			}
		}
		p.phrase(tokens, i, end, out)
		i = end
	}
}

// phrase takes one run of words, its noise at both ends left out.
func (p *parser) phrase(tokens []token, from, end int, out *part) {
	start := from
	for start < end && tokens[start].kind == word && p.noise[tokens[start].text] || start < end && tokens[start].kind == word && p.idle(tokens[start].text) {
		start++
	}
	for end > start && tokens[end-1].kind == word && (p.noise[tokens[end-1].text] || p.idle(tokens[end-1].text)) {
		end--
	}
	if start == end || p.saying && end < len(tokens) && tokens[end].kind == quoted && !slices.ContainsFunc(tokens[start:end], func(t token) bool { return !p.stop[t.text] }) {
		return // "that mention our brand "Lumo""
	}
	var words []string
	content, hard := 0, false
	taste := slices.ContainsFunc(tokens[from:end], func(t token) bool { return p.lexicon.in("degree", t.text) }) // "too salesy"
	for i := start; i < end; i++ {
		t := tokens[i]
		words = append(words, t.text)
		if t.kind == quoted {
			content++
			continue
		}
		if !p.noise[t.text] && !p.stop[t.text] {
			content++
		}
		taste = taste || t.kind == word && (p.judgement[t.text] || t.text == "like" && i > start)
		c, after, compares := comparisonAt(tokens, i)
		counted := i > start && p.measures(t.text) && (amount(tokens[i-1]) || p.numbers[tokens[i-1].text] > 0 || tokens[i-1].text == "zero")
		hard = hard || compares && (after < end && amount(tokens[after]) || i == start && (c.op == ">" || c.op == "<")) || p.misspelt[t.text] != "" || p.lexicon.in("unbound", t.text) || t.text == "than" || counted || p.numbers[t.text] > 2 || t.text == "half"
	}
	// "influencer drama" is less than drama, and an hour of "hour-long" is no subject.
	hard = hard || start > from && tokens[start].kind == word && p.lexicon.in("people", tokens[start-1].text) || end == start+1 && tokens[start].kind == word && p.lexicon.in("unit", tokens[start].text)
	who := end < len(tokens) && tokens[end].kind == word && p.lexicon.in("people", tokens[end].text) // "mega influencers"
	text := strings.Join(words, " ")
	odd := false // what is no name of a subject
	for i, t := range tokens[from:end] {
		placed := from+i < start && p.place[t.text] && tokens[start].kind != quoted
		odd = odd || placed || from+i >= start && t.kind == word && (p.lexicon.in("clausal", t.text) || p.lexicon.in("counted", t.text) || p.lexicon.in("vague", t.text) || len(t.text) == 1 || strings.HasSuffix(t.text, "ly") && !p.lexicon.in("lynoun", t.text) || p.nearly(t.text))
	}
	odd = odd || start > from && tokens[start].kind == word && (tokens[start-1].text == "our" || tokens[start-1].text == "my")                                            // "our name"
	odd = odd || out.people && !p.saying && slices.ContainsFunc(tokens[from:start], func(t token) bool { return p.lexicon.in("relative", t.text) })                       // "creators who post daily"
	odd = odd || out.named && start > from && (tokens[start-1].text == "is" || tokens[start-1].text == "are") && tokens[start].kind == word                               // "if the caption is empty"
	odd = odd && (!p.topical(tokens[start:end]) || slices.ContainsFunc(tokens[start:end], func(t token) bool { return p.stop[t.text] && p.lexicon.in("vague", t.text) })) // "that whole ASMR thing"
	soften := p.mode == soft || p.mode == want
	guess := (p.mode == must || p.mode == plain || p.strict) && !p.saying && !p.topical(tokens[start:end])
	if p.mode == never && !p.saying && slices.ContainsFunc(out.conditions, func(c Condition) bool { return c.numeric() || c.Field == Creator }) {
		guess = !p.topical(tokens[start:end]) // "don't waste my time with clips under 1000 plays"
	}
	most := 2
	if p.saying && p.mode == never && !p.strict || p.mode == plain {
		most = 3
	}
	switch {
	case hard, odd && !soften, content == 0, !soften && amount(tokens[start]) && start+1 == end, content > most && !soften, taste && !soften, guess, who && !soften:
		out.lost = append(out.lost, text)
	case soften:
		for i := start; i < end; i++ {
			if t := tokens[i]; t.kind == quoted || !p.noise[t.text] && !p.stop[t.text] && !p.judgement[t.text] && !p.idle(t.text) {
				out.add(Text, t.text)
			}
		}
	default:
		values := []string{text}
		if tokens[start].kind != quoted { // "#ad" is what it is
			values = adverts(text)
		}
		if from > 0 && isMark(tokens[from-1], ":-") && out.worded() { // "no-gos: politics"
			out.lost = append(out.lost, "two subjects")
		}
		out.conditions = append(out.conditions, Condition{Field: Text, Values: values})
	}
}

// idle are words that only lead to what is meant.
func (p *parser) idle(text string) bool {
	return p.place[text] || p.in("idle", text)
}

func (o *part) add(field Field, value string) {
	for i := range o.conditions {
		if c := &o.conditions[i]; c.Field == field && !c.numeric() {
			if !slices.Contains(c.Values, value) {
				c.Values = append(c.Values, value)
			}
			return
		}
	}
	o.conditions = append(o.conditions, Condition{Field: field, Values: []string{value}})
}

// adverts adds to advertising what advertising calls itself.
func adverts(phrase string) []string {
	if english().adverts[stems(phrase)] {
		return []string{"#ad", "#ads", "#sponsored", "sponsored", "paid partnership", "advertisement"}
	}
	return []string{phrase}
}

// fewestFollowers is the least bare number beside creators that is no age.
const fewestFollowers = 500

// ofPeople reports creators before a number: "creators under 100k", unlike "2 per creator".
func (p *parser) ofPeople(tokens []token) bool {
	for i, t := range tokens {
		if amount(t) {
			return false
		}
		if t.kind == word && p.lexicon.in("people", t.text) && (i == 0 || tokens[i-1].text != "per") {
			return true
		}
	}
	return false
}

// topical reports words that are known to name what videos are about: quoted ones, those
// of the lexicon and those of the brief.
func (p *parser) topical(tokens []token) bool {
	for _, t := range tokens {
		switch {
		case t.kind == quoted:
		case t.kind != word:
			return false
		case p.noise[t.text], p.stop[t.text], p.lexicon.in("topic", t.text), p.lexicon.in("topic", strings.TrimSuffix(t.text, "s")), p.adverts[stems(t.text)]:
		case p.known != nil && p.known(stem(t.text)), p.meanings[stems(t.text)] != nil:
		default:
			return len(tokens) > 1 && p.meanings[stems(strings.Join(textsOf(tokens), " "))] != nil
		}
	}
	return true
}

// asking reads a hook that is a question.
func (p *parser) asking(tokens []token, used []bool, in Part, out *part) {
	asks := in == Hook
	if in != "" && !asks {
		return
	}
	for i, t := range tokens {
		asks = asks || t.kind == word && p.lexicon.in("ask", t.text)
		if !asks || t.kind != word || t.text != "question" && t.text != "questions" {
			continue
		}
		for j := range i + 1 {
			used[j] = used[j] || tokens[j].kind == word && (p.lexicon.in("ask", tokens[j].text) || p.noise[tokens[j].text])
		}
		used[i] = true
		out.conditions = append(out.conditions, Condition{Field: Question})
		return
	}
}

// worded reports a part that searches texts.
func (o part) worded() bool {
	return slices.ContainsFunc(o.conditions, func(c Condition) bool { return c.Field == Text })
}

// within narrows what was read to a part of the text.
func (o *part) within(in Part) {
	for i := range o.conditions {
		switch o.conditions[i].Field {
		case Text, Words, Characters:
			o.conditions[i].In = in
		}
	}
}
