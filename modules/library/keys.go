package library

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxKeyBytes bounds a trend key: it ends a sort key, which must fit a page token.
	maxKeyBytes = 128
	// maxKeys bounds the keys of one video; the first ones count.
	maxKeys = 100
)

// fold makes letters that differ by case alone the same, in any script.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, s)
}

// creatorHandle is a handle as the platform writes it in addresses.
func creatorHandle(handle string) string {
	return strings.TrimPrefix(strings.TrimSpace(clean(handle)), "@")
}

// creatorKey tells creators of one platform apart; empty where nothing is known.
func creatorKey(r *stage.Record) string {
	if id := strings.TrimSpace(clean(r.CreatorID)); id != "" {
		return id
	}
	if r.Source == nil {
		return ""
	}
	return fold(creatorHandle(r.Source.Handle))
}

// trendKeys returns the keys of a record: hashtags and sound of its metadata, and
// those that a stage gave.
func trendKeys(r *stage.Record, metadata []byte) []stage.Key {
	var meta struct {
		Hashtags   json.RawMessage `json:"hashtags"`
		SoundID    json.RawMessage `json:"soundId"`
		SoundTitle json.RawMessage `json:"soundTitle"`
	}
	keys := []stage.Key{}
	if json.Unmarshal(metadata, &meta) == nil {
		var tags []json.RawMessage
		_ = json.Unmarshal(meta.Hashtags, &tags) // anything but a list holds no hashtags
		for _, raw := range tags {
			if tag := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(plain(raw)), "#＃")); tag != "" {
				keys = addKey(keys, stage.Key{Key: "hashtag:" + fold(tag), Label: "#" + tag})
			}
		}
		if id := strings.TrimSpace(plain(meta.SoundID)); id != "" {
			label := strings.TrimSpace(plain(meta.SoundTitle))
			if label == "" {
				label = id
			}
			keys = addKey(keys, stage.Key{Key: "sound:" + r.Platform + ":" + id, Label: label})
		}
	}
	for _, key := range r.Keys {
		if key.Label == "" {
			key.Label = key.Key
		}
		keys = addKey(keys, key)
	}
	return keys
}

// plain is the text of a JSON string or number, empty for all else.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		var s string
		_ = json.Unmarshal(raw, &s) // sound already, as part of a sound object
		return s
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw)
	}
	return ""
}

// addKey adds a key that is new, short enough and of one line.
func addKey(keys []stage.Key, key stage.Key) []stage.Key {
	key.Key, key.Label = line(key.Key), line(key.Label)
	known := slices.ContainsFunc(keys, func(k stage.Key) bool { return k.Key == key.Key })
	if known || key.Key == "" || len(key.Key) > maxKeyBytes || len(keys) == maxKeys {
		return keys
	}
	return append(keys, key)
}

// line makes text fit for a line of packed keys.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, clean(s))
}

// fromMetadata tells keys that metadata gives from those of stages.
func fromMetadata(key stage.Key) bool {
	return strings.HasPrefix(key.Key, "hashtag:") || strings.HasPrefix(key.Key, "sound:")
}

func packKeys(keys []stage.Key) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(key.Key + "\t" + key.Label + "\n")
	}
	return b.String()
}

func unpackKeys(text string) []stage.Key {
	var keys []stage.Key
	for text != "" {
		var row string
		row, text, _ = strings.Cut(text, "\n")
		key, label, _ := strings.Cut(row, "\t")
		keys = append(keys, stage.Key{Key: key, Label: label})
	}
	return keys
}
