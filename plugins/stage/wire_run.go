package stage

import (
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// EncodeRun makes a run a message.
func EncodeRun(r Run) *stagev1.Run {
	m := &stagev1.Run{
		ScrollId: r.ScrollID, Number: int64(r.Number), Prompt: r.Prompt, Now: r.Now, Frames: r.Frames, Language: r.Language,
		Brief: &stagev1.Brief{
			Name: r.Brief.Name, Description: r.Brief.Description, Website: r.Brief.Website,
			AppStoreUrl: r.Brief.AppStoreURL, Competitors: r.Brief.Competitors,
		},
	}
	for _, page := range r.Pages {
		m.Pages = append(m.Pages, &stagev1.Page{Url: page.URL, Title: page.Title, Text: page.Text})
	}
	for _, rule := range r.Rules {
		m.Rules = append(m.Rules, &stagev1.Rule{Id: rule.ID, Text: rule.Text})
	}
	return m
}

// DecodeRun reads a run.
func DecodeRun(m *stagev1.Run) Run {
	brief := m.GetBrief()
	run := Run{
		ScrollID: m.GetScrollId(), Number: int(m.GetNumber()), Prompt: m.GetPrompt(), Now: m.GetNow(), Frames: m.GetFrames(), Language: m.GetLanguage(),
		Brief: Brief{
			Name: brief.GetName(), Description: brief.GetDescription(), Website: brief.GetWebsite(),
			AppStoreURL: brief.GetAppStoreUrl(), Competitors: brief.GetCompetitors(),
		},
	}
	for _, page := range m.GetPages() {
		run.Pages = append(run.Pages, Page{URL: page.GetUrl(), Title: page.GetTitle(), Text: page.GetText()})
	}
	for _, rule := range m.GetRules() {
		run.Rules = append(run.Rules, Rule{ID: rule.GetId(), Text: rule.GetText()})
	}
	return run
}

// EncodeSeed makes a seed a message.
func EncodeSeed(s Seed) *stagev1.Seed {
	return &stagev1.Seed{Kind: s.Kind, Platform: s.Platform, Handle: s.Handle, Term: s.Term, Limit: int64(s.Limit)}
}

// DecodeSeed reads a seed.
func DecodeSeed(m *stagev1.Seed) Seed {
	return Seed{Kind: m.GetKind(), Platform: m.GetPlatform(), Handle: m.GetHandle(), Term: m.GetTerm(), Limit: int(m.GetLimit())}
}
