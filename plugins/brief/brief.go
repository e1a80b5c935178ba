// Package brief is the brief stage that has a chat endpoint write the sentences of a
// creative brief. Without an endpoint it is not usable, and the server's own composer
// drafts.
//
// The endpoint gets the facts as data and returns sentences with the numbers of the facts
// that each rests on. A sentence without a valid number is dropped here, and again by the
// host.
package brief

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxSentences is how many sentences are asked for.
	maxSentences = 12
	// tokens bound the answer.
	tokens = 2000
)

const instructions = `You write a short creative brief for the makers of short videos.
"untrusted" has the product, the rules, the wish for this brief, and numbered facts of a library: outliers (videos with far more views than usual), hooks (what first seconds say and show) and trends.
Write at most 12 sentences of at most 300 characters each, in the language of the product's description: what works, how to open, what grows, what to make.
After each sentence list the numbers of all facts that it rests on. A sentence that rests on no fact is thrown away, so write none. State numbers only as the facts have them. Put words of creators between “ and ”.`

// Spec is the brief stage.
func Spec() stage.Spec {
	spec := model.Chat(stage.Spec{
		ID: "brief", Version: "1.0.0", Kind: stage.BriefKind,
		Summary: "Has a chat endpoint write a brief in which every sentence cites its facts.",
		Limits:  stage.Limits{Call: 2 * time.Minute, Stall: 2 * time.Minute},
		Brief:   write,
	})
	spec.Settings[0].Required = true
	return spec
}

// numbered is a fact as the endpoint sees it: a short number costs fewer tokens than an
// id, and is copied without faults.
type numbered struct {
	Number int `json:"number"`
	stage.Fact
	ID       string   `json:"id,omitempty"` // hides those of the fact
	Examples []string `json:"examples,omitempty"`
}

// said is a sentence of the endpoint.
type said struct {
	Part    string `json:"part"`
	Text    string `json:"text"`
	Numbers []int  `json:"facts"`
}

func write(ctx context.Context, call *stage.Call, facts []stage.Fact, emit func(stage.Sentence) error) error {
	endpoint, err := model.Of(call)
	if err != nil {
		return err
	}
	if endpoint == nil {
		return stage.Misconfiguredf("no endpoint is set")
	}
	if len(facts) == 0 {
		return nil
	}
	var answer struct {
		Sentences []said `json:"sentences"`
	}
	err = endpoint.Ask(ctx, model.Question{Instructions: instructions, Data: describe(call, facts), Name: "brief", Tokens: tokens, Schema: schema()}, &answer)
	if errors.Is(err, model.ErrQuestion) {
		return stage.Misconfiguredf("%v: does it know the model, and JSON schemas?", err) // there is no other question
	}
	if err != nil {
		return err
	}
	for _, one := range answer.Sentences[:min(len(answer.Sentences), 2*maxSentences)] {
		if err := emit(one.sentence(facts)); err != nil {
			return err
		}
	}
	return nil
}

// sentence has no citations where any of the numbers is no fact's: the host drops it, and
// counts it.
func (s said) sentence(facts []stage.Fact) stage.Sentence {
	words := strings.FieldsFunc(s.Text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	text := strings.Map(func(r rune) rune {
		if stage.TurnsText(r) { // captions of TikTok have them around names
			return -1
		}
		return r
	}, strings.Join(words, " "))
	sentence := stage.Sentence{Part: s.Part, Text: text}
	for _, number := range s.Numbers {
		if number < 1 || number > len(facts) {
			sentence.Cites = nil
			return sentence
		}
		if id := facts[number-1].ID; !slices.Contains(sentence.Cites, id) {
			sentence.Cites = append(sentence.Cites, id)
		}
	}
	return sentence
}

// describe is what the endpoint gets to know.
func describe(call *stage.Call, facts []stage.Fact) map[string]any {
	all := make([]numbered, 0, len(facts))
	for i := range facts {
		all = append(all, numbered{Number: i + 1, Fact: facts[i]})
	}
	rules := make([]string, 0, len(call.Rules))
	for _, rule := range call.Rules {
		rules = append(rules, rule.Text)
	}
	return map[string]any{"name": call.Brief.Name, "description": call.Brief.Description, "rules": rules, "wish": call.Prompt, "facts": all}
}

func schema() map[string]any {
	object := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
	}
	list := func(items any) map[string]any { return map[string]any{"type": "array", "items": items} }
	return object(map[string]any{"sentences": list(object(map[string]any{
		"part":  map[string]any{"type": "string", "enum": []string{stage.PartWorks, stage.PartOpening, stage.PartTrend, stage.PartMake}},
		"text":  map[string]any{"type": "string"},
		"facts": list(map[string]any{"type": "integer"}),
	}, "part", "text", "facts"))}, "sentences")
}
