package scrolls

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/record"
)

// keywords are the niche terms of a brief, the best first. The method is plain, so
// that anybody can tell why a term is there: a word counts 3 in the prompt or as a
// hashtag, 1 in the description and in a rule; a rule that forbids something
// counts nothing. Common and very short words are left out; so are those of the
// brand's own name. Ties go to the word that comes first.
func keywords(brief record.Brief, rules []record.Rule, prompt string, limit int) []string {
	type word struct {
		text  string
		score int
	}
	var found []*word
	index := map[string]*word{}
	skip := map[string]bool{}
	for text := range strings.FieldsFuncSeq(strings.ToLower(brief.Name), apart) {
		skip[text] = true
	}
	for text := range strings.FieldsSeq(commonWords) {
		skip[text] = true
	}
	add := func(text string, weight int) {
		for token := range strings.FieldsFuncSeq(strings.ToLower(text), apart) {
			points := weight
			if tag, ok := strings.CutPrefix(token, "#"); ok {
				token, points = tag, 3
			}
			token = strings.Trim(token, "'’-#")
			if utf8.RuneCountInString(token) < 3 || skip[token] || !strings.ContainsFunc(token, unicode.IsLetter) {
				continue
			}
			if index[token] == nil {
				index[token] = &word{text: token}
				found = append(found, index[token])
			}
			index[token].score += points
		}
	}
	add(prompt, 3)
	add(brief.Description, 1)
	for _, rule := range rules {
		if !forbids(rule.Text) {
			add(rule.Text, 1)
		}
	}
	slices.SortStableFunc(found, func(a, b *word) int { return cmp.Compare(b.score, a.score) })
	terms := make([]string, 0, limit)
	for _, w := range found[:min(limit, len(found))] {
		terms = append(terms, w.text)
	}
	return terms
}

// apart tells what lies between words.
func apart(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !strings.ContainsRune("'’-#", c)
}

// forbids tells whether a rule names what is not wanted.
func forbids(rule string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(rule), apart), func(token string) bool {
		return slices.Contains(strings.Fields("no not never without except exclude excluding ignore skip avoid drop don't don’t dont"), token)
	})
}

// commonWords carry no topic.
const commonWords = `a about above after again all also always am an and any app apps are around as at be because been before being
best better between both brand brands but by can channel channels clip clips com company content could creator creators did do does doing
down during each every few find focus follow for from fun further get give good great had has have having help helps her here hers him his
how https i if important in include including into is it its just keep kind kinds know like likes look looking lot made make makes making
many me mention mentions minimum maximum more most much must my need new nor now of off on once only or other our ours out over own people
platform platforms please post posts prefer product products rank really reel reels rule rules same see service services she short shorts
should show shows site small so some such than that the their theirs them then there these they thing things this those through to too
trend trends under until up use used user users uses using very video videos views want was way we well were what when where which while
who whom why will with within work would www you your yours tiktok youtube instagram`
