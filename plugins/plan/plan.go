// Package plan is the plan stage that asks a chat endpoint which words people use
// for what the tenant's videos would be about.
//
// Without an endpoint it is not usable, and the host's keywords are used.
package plan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxTerms is how many terms are asked for; the host takes as many as it needs.
	maxTerms = 20
	// maxTerm is the length of one, in characters.
	maxTerm = 60
	// tokens bound the answer.
	tokens = 1000
)

const instructions = `You plan the research of a company that wants to see which short videos in its field do well.
"untrusted" describes the company: its brief, its rules, what it wants of this run, what its own pages say, and keywords that a simple method found.
Give up to 20 search terms that people in this field put into captions and hashtags of short videos, the most telling first: one to three words each, in the language of the audience, without # and @, no brand names of the company itself, nothing that fits any video.`

// Spec is the plan stage.
func Spec() stage.Spec {
	spec := model.Chat(stage.Spec{
		ID: "plan", Version: "1.0.0", Kind: stage.PlanKind,
		Summary: "Asks a chat endpoint for search terms.",
		Limits:  stage.Limits{Call: 4 * time.Minute, Stall: 4 * time.Minute},
		Plan:    find,
	})
	spec.Settings[0].Required = true
	return spec
}

func find(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Seed) error) error {
	endpoint, err := model.Of(call)
	if err != nil {
		return err
	}
	if endpoint == nil {
		return stage.Misconfiguredf("no endpoint is set")
	}
	var answer struct {
		Terms []string `json:"terms"`
	}
	err = endpoint.Ask(ctx, model.Question{
		Instructions: instructions, Data: describe(call, seeds), Name: "terms", Tokens: tokens,
		Schema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"terms"},
			"properties": map[string]any{"terms": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
		},
	}, &answer)
	if errors.Is(err, model.ErrQuestion) {
		return stage.Misconfiguredf("%v: does it know the model, and JSON schemas?", err) // there is no other question
	}
	if err != nil {
		return err
	}
	for _, term := range terms(answer.Terms) {
		if err := emit(stage.Seed{Kind: "niche", Term: term}); err != nil {
			return err
		}
	}
	return nil
}

// describe is what the endpoint gets to know.
func describe(call *stage.Call, seeds []stage.Seed) map[string]any {
	var keywords []string
	for _, seed := range seeds {
		if seed.Kind == "niche" {
			keywords = append(keywords, seed.Term)
		}
	}
	rules := make([]string, 0, len(call.Rules))
	for _, rule := range call.Rules {
		rules = append(rules, rule.Text)
	}
	return map[string]any{
		"name": call.Brief.Name, "description": call.Brief.Description, "competitors": call.Brief.Competitors,
		"rules": rules, "prompt": call.Prompt, "pages": call.Pages, "keywords": keywords,
	}
}

// terms are those of an answer that can be asked for, each once.
func terms(said []string) []string {
	var kept []string
	for _, term := range said {
		term = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(term), "#@")), " ")
		if term == "" || !utf8.ValidString(term) || utf8.RuneCountInString(term) > maxTerm || strings.Contains(term, "://") {
			continue
		}
		if len(kept) < maxTerms && !slices.ContainsFunc(kept, func(k string) bool { return strings.EqualFold(k, term) }) {
			kept = append(kept, term)
		}
	}
	return kept
}
