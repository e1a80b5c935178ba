package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/words"
	"github.com/scrollery/scrollery/plugins/stage"
)

// partsOf gives the texts of which it is known where they are. Speech and on-screen text
// are there once they were looked for, and empty if there are none.
func partsOf(rec stage.Record, m metadata) map[Part]string {
	parts := map[Part]string{}
	add := func(part Part, text *string) {
		if text != nil {
			parts[part] = clip(strings.Trim(parts[part]+"\n"+*text, "\n"), mostText)
		}
	}
	add(Caption, (*string)(m.Caption))
	add(Caption, (*string)(m.Title))
	if m.Description != "" {
		add(Caption, (*string)(&m.Description))
	}
	if e := rec.Evidence; e != nil {
		add(Speech, e.Spoken)
		add(OnScreen, e.OnScreenText)
	}
	for _, cue := range rec.Cues[:min(len(rec.Cues), 50)] {
		add(Speech, &cue.Text)
	}
	for _, sticker := range rec.Stickers[:min(len(rec.Stickers), 50)] {
		add(OnScreen, &sticker.Text)
	}
	for _, part := range []Part{Speech, OnScreen} { // as the hook's opening: speech first
		if text, known := parts[part]; known && parts[Hook] == "" {
			parts[Hook] = text
		}
	}
	return parts
}

// part are the facts of one part of the text; nil if it is not known.
func (f *facts) part(of Part) *facts {
	text, known := f.parts[of]
	if !known {
		return nil
	}
	one := &facts{now: f.now, known: true, text: text, tags: map[string]bool{}}
	one.tag(nil, nil)
	one.Text = words.In(text, one.tags)
	return one
}

// asks reports whether the first sentence of the hook is a question.
func (f *facts) asks() answer {
	hook, known := f.parts[Hook]
	if !known || strings.TrimSpace(hook) == "" {
		return unknown
	}
	if end := strings.IndexAny(hook, "?？؟.!。！\n"); end >= 0 {
		r, _ := utf8.DecodeRuneInString(hook[end:])
		return truth(strings.ContainsRune("?？؟", r))
	}
	return no
}

// size counts the words of a part, of the hook if none is named, or its characters, of the
// caption if none is named.
func (f *facts) size(by Field, of Part) (n float64, known bool) {
	of = Condition{Field: by, In: of}.part()
	text, known := f.parts[of]
	if by == Words {
		return float64(len(strings.Fields(text))), known
	}
	return float64(utf8.RuneCountInString(text)), known
}
