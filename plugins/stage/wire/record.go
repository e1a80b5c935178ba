package wire

import (
	"github.com/scrollery/scrollery/modules/record"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// EncodeRef makes a ref a message.
func EncodeRef(r record.Ref) *stagev1.Ref {
	return &stagev1.Ref{Platform: r.Platform, ExternalId: r.ExternalID}
}

// DecodeRef reads a ref; nil is the empty one.
func DecodeRef(m *stagev1.Ref) record.Ref {
	return record.Ref{Platform: m.GetPlatform(), ExternalID: m.GetExternalId()}
}

// EncodeRecord makes a record a message.
func EncodeRecord(r *record.Record) *stagev1.Record {
	m := &stagev1.Record{
		Ref:          EncodeRef(r.Ref),
		SourceUrl:    r.SourceURL,
		PostedAt:     r.PostedAt,
		CreatorId:    r.CreatorID,
		MetadataJson: r.Metadata,
		Evidence:     encodeEvidence(r.Evidence),
		Keys:         encodeKeys(r.Keys),
		Seed:         r.Seed,
		Media:        r.Media,
	}
	if s := r.Source; s != nil {
		m.Source = &stagev1.Source{Kind: s.Kind, Handle: s.Handle, SeededBy: s.SeededBy}
	}
	if c := r.Metrics; c != (record.Metrics{}) {
		m.Metrics = &stagev1.Metrics{
			Views: c.Views, Likes: c.Likes, Comments: c.Comments, Shares: c.Shares, Saves: c.Saves,
			ObservedAt: c.ObservedAt, Semantics: c.Semantics,
		}
	}
	for _, cue := range r.Cues {
		m.Cues = append(m.Cues, &stagev1.Cue{Start: cue.Start, End: cue.End, Text: cue.Text})
	}
	for _, sticker := range r.Stickers {
		m.Stickers = append(m.Stickers, &stagev1.Sticker{Text: sticker.Text, Start: sticker.Start})
	}
	return m
}

// DecodeRecord reads a record; nil is the empty one, which no host takes.
func DecodeRecord(m *stagev1.Record) record.Record {
	r := record.Record{
		Ref:       DecodeRef(m.GetRef()),
		SourceURL: m.GetSourceUrl(),
		CreatorID: m.GetCreatorId(),
		Metadata:  m.GetMetadataJson(),
		Evidence:  decodeEvidence(m.GetEvidence()),
		Keys:      decodeKeys(m.GetKeys()),
		Seed:      m.GetSeed(),
		Media:     m.GetMedia(),
	}
	if m == nil {
		return r
	}
	r.PostedAt = m.PostedAt
	if s := m.Source; s != nil {
		r.Source = &record.Source{Kind: s.Kind, Handle: s.Handle, SeededBy: s.SeededBy}
	}
	if c := m.Metrics; c != nil {
		r.Metrics = record.Metrics{
			Views: c.Views, Likes: c.Likes, Comments: c.Comments, Shares: c.Shares, Saves: c.Saves,
			ObservedAt: c.ObservedAt, Semantics: c.Semantics,
		}
	}
	for _, cue := range m.Cues {
		r.Cues = append(r.Cues, record.Cue{Start: cue.GetStart(), End: cue.GetEnd(), Text: cue.GetText()})
	}
	for _, sticker := range m.Stickers {
		r.Stickers = append(r.Stickers, record.Sticker{Text: sticker.GetText(), Start: sticker.GetStart()})
	}
	return r
}

func encodeEvidence(e *record.Evidence) *stagev1.Evidence {
	if e == nil {
		return nil
	}
	return &stagev1.Evidence{VisualJson: e.Visual, Spoken: e.Spoken, OnScreenText: e.OnScreenText}
}

func decodeEvidence(m *stagev1.Evidence) *record.Evidence {
	if m == nil {
		return nil
	}
	return &record.Evidence{Visual: m.VisualJson, Spoken: m.Spoken, OnScreenText: m.OnScreenText}
}

func encodeKeys(keys []record.Key) []*stagev1.Key {
	var messages []*stagev1.Key
	for _, key := range keys {
		messages = append(messages, &stagev1.Key{Key: key.Key, Label: key.Label})
	}
	return messages
}

func decodeKeys(messages []*stagev1.Key) []record.Key {
	var keys []record.Key
	for _, m := range messages {
		keys = append(keys, record.Key{Key: m.GetKey(), Label: m.GetLabel()})
	}
	return keys
}
