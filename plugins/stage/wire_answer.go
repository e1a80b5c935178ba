package stage

import (
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// EncodeVerdict makes a verdict a message.
func EncodeVerdict(v *Verdict) *stagev1.Verdict {
	return &stagev1.Verdict{Ref: EncodeRef(v.Ref), DroppedBy: v.DroppedBy, Rank: v.Rank, Reason: v.Reason, RuleId: v.RuleID}
}

// DecodeVerdict reads a verdict.
func DecodeVerdict(m *stagev1.Verdict) Verdict {
	return Verdict{Ref: DecodeRef(m.GetRef()), DroppedBy: m.GetDroppedBy(), Rank: m.GetRank(), Reason: m.GetReason(), RuleID: m.GetRuleId()}
}

// EncodeFinding makes a finding a message.
func EncodeFinding(f *Finding) *stagev1.Finding {
	m := &stagev1.Finding{Ref: EncodeRef(f.Ref), Evidence: encodeEvidence(&f.Evidence), Keys: encodeKeys(f.Keys)}
	for _, frame := range f.Frames {
		m.Frames = append(m.Frames, &stagev1.Frame{At: frame.At, Webp: frame.WebP})
	}
	return m
}

// DecodeFinding reads a finding.
func DecodeFinding(m *stagev1.Finding) Finding {
	finding := Finding{Ref: DecodeRef(m.GetRef()), Keys: decodeKeys(m.GetKeys())}
	if evidence := decodeEvidence(m.GetEvidence()); evidence != nil {
		finding.Evidence = *evidence
	}
	for _, frame := range m.GetFrames() {
		finding.Frames = append(finding.Frames, Frame{At: frame.GetAt(), WebP: frame.GetWebp()})
	}
	return finding
}

// EncodeOutcomes makes outcomes messages.
func EncodeOutcomes(outcomes []Outcome) []*stagev1.Outcome {
	messages := make([]*stagev1.Outcome, 0, len(outcomes))
	for _, o := range outcomes {
		messages = append(messages, &stagev1.Outcome{
			Seed: o.Seed, Platform: o.Platform, Status: string(o.Status),
			Asked: int64(o.Asked), Returned: int64(o.Returned), RetryAt: o.RetryAt, Detail: o.Detail, Cost: o.Cost,
		})
	}
	return messages
}

// DecodeOutcomes reads outcomes.
func DecodeOutcomes(messages []*stagev1.Outcome) []Outcome {
	var outcomes []Outcome
	for _, m := range messages {
		outcome := Outcome{
			Seed: m.GetSeed(), Platform: m.GetPlatform(), Status: Status(m.GetStatus()),
			Asked: int(m.GetAsked()), Returned: int(m.GetReturned()), Detail: m.GetDetail(),
		}
		if m != nil {
			outcome.RetryAt, outcome.Cost = m.RetryAt, m.Cost
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// EncodeFact makes a fact a message.
func EncodeFact(f *Fact) *stagev1.Fact {
	return &stagev1.Fact{
		Id: f.ID, Kind: f.Kind, Platform: f.Platform, Handle: f.Handle, Caption: f.Caption, DurationSeconds: f.DurationSeconds,
		Views: f.Views, BaselineViews: f.BaselineViews, Score: f.Score, Samples: int64(f.Samples),
		Spoken: f.Spoken, OnScreenText: f.OnScreenText, Visual: f.Visual,
		Label: f.Label, Videos: int64(f.Videos), Growth: f.Growth, Examples: f.Examples,
	}
}

// DecodeFact reads a fact.
func DecodeFact(m *stagev1.Fact) Fact {
	return Fact{
		ID: m.GetId(), Kind: m.GetKind(), Platform: m.GetPlatform(), Handle: m.GetHandle(), Caption: m.GetCaption(), DurationSeconds: m.GetDurationSeconds(),
		Views: m.GetViews(), BaselineViews: m.GetBaselineViews(), Score: m.GetScore(), Samples: int(m.GetSamples()),
		Spoken: m.GetSpoken(), OnScreenText: m.GetOnScreenText(), Visual: m.GetVisual(),
		Label: m.GetLabel(), Videos: int(m.GetVideos()), Growth: m.GetGrowth(), Examples: m.GetExamples(),
	}
}

// EncodeSentence makes a sentence a message.
func EncodeSentence(s Sentence) *stagev1.Sentence {
	return &stagev1.Sentence{Part: s.Part, Text: s.Text, Cites: s.Cites}
}

// DecodeSentence reads a sentence.
func DecodeSentence(m *stagev1.Sentence) Sentence {
	return Sentence{Part: m.GetPart(), Text: m.GetText(), Cites: m.GetCites()}
}
