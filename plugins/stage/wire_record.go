package stage

import (
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// EncodeRef makes a ref a message.
func EncodeRef(r Ref) *stagev1.Ref {
	return &stagev1.Ref{Platform: r.Platform, ExternalId: r.ExternalID}
}

// DecodeRef reads a ref; nil is the empty one.
func DecodeRef(m *stagev1.Ref) Ref {
	return Ref{Platform: m.GetPlatform(), ExternalID: m.GetExternalId()}
}

func encodeFile(f File) *stagev1.File { return &stagev1.File{Ref: EncodeRef(f.Ref), Name: f.Name} }

// EncodeRecord makes a record a message.
func EncodeRecord(r *Record) *stagev1.Record {
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
		Trimmed:      r.Trimmed,
		Unread:       r.Unread,
	}
	if s := r.Source; s != nil {
		m.Source = &stagev1.Source{Kind: s.Kind, Handle: s.Handle, SeededBy: s.SeededBy}
	}
	if c := r.Metrics; c != (Metrics{}) {
		m.Metrics = &stagev1.Metrics{
			Views: c.Views, Likes: c.Likes, Comments: c.Comments, Shares: c.Shares, Saves: c.Saves,
			ObservedAt: c.ObservedAt, Semantics: c.Semantics, Followers: c.Followers,
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
func DecodeRecord(m *stagev1.Record) Record {
	r := Record{
		Ref:       DecodeRef(m.GetRef()),
		SourceURL: m.GetSourceUrl(),
		CreatorID: m.GetCreatorId(),
		Metadata:  m.GetMetadataJson(),
		Evidence:  decodeEvidence(m.GetEvidence()),
		Keys:      decodeKeys(m.GetKeys()),
		Seed:      m.GetSeed(),
		Media:     m.GetMedia(),
		Trimmed:   m.GetTrimmed(),
		Unread:    m.GetUnread(),
	}
	if m == nil {
		return r
	}
	r.PostedAt = m.PostedAt
	if s := m.Source; s != nil {
		r.Source = &Source{Kind: s.Kind, Handle: s.Handle, SeededBy: s.SeededBy}
	}
	if c := m.Metrics; c != nil {
		r.Metrics = Metrics{
			Views: c.Views, Likes: c.Likes, Comments: c.Comments, Shares: c.Shares, Saves: c.Saves,
			ObservedAt: c.ObservedAt, Semantics: c.Semantics, Followers: c.Followers,
		}
	}
	for _, cue := range m.Cues {
		r.Cues = append(r.Cues, Cue{Start: cue.GetStart(), End: cue.GetEnd(), Text: cue.GetText()})
	}
	for _, sticker := range m.Stickers {
		r.Stickers = append(r.Stickers, Sticker{Text: sticker.GetText(), Start: sticker.GetStart()})
	}
	return r
}

func encodeEvidence(e *Evidence) *stagev1.Evidence {
	if e == nil {
		return nil
	}
	return &stagev1.Evidence{VisualJson: e.Visual, Spoken: e.Spoken, OnScreenText: e.OnScreenText, Language: e.Language}
}

func decodeEvidence(m *stagev1.Evidence) *Evidence {
	if m == nil {
		return nil
	}
	return &Evidence{Visual: m.VisualJson, Spoken: m.Spoken, OnScreenText: m.OnScreenText, Language: m.GetLanguage()}
}

func encodeKeys(keys []Key) []*stagev1.Key {
	var messages []*stagev1.Key
	for _, key := range keys {
		messages = append(messages, &stagev1.Key{Key: key.Key, Label: key.Label})
	}
	return messages
}

func decodeKeys(messages []*stagev1.Key) []Key {
	var keys []Key
	for _, m := range messages {
		keys = append(keys, Key{Key: m.GetKey(), Label: m.GetLabel()})
	}
	return keys
}
