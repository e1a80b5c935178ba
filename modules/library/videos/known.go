package videos

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// What is known of a video is the best that any sighting said of each field: one that knows
// less takes nothing away. All merging of sightings is here; score.Known has the order.

// description is what a record or a video says besides its numbers.
type description struct {
	address  string
	postedAt *int64
	// metadata is an object in valid JSON; nil says nothing.
	metadata jsontext.Value
}

// known reads a description.
func (d description) known(platform string) score.Known {
	f := FactsOf(d.metadata)
	return f.known(platform, d.address, d.postedAt)
}

func (f *facts) known(platform, address string, postedAt *int64) score.Known {
	k := score.Known{Format: score.FormatOf(platform, address, f.basis, f.mediaType), PostedAt: score.Undated, Duration: f.Duration}
	if postedAt != nil {
		k.PostedAt = *postedAt
	}
	return k
}

// mergeDescriptions adds what a later sighting of a video says.
func mergeDescriptions(platform string, old, next description) description {
	if next.metadata == nil && next.postedAt == nil && next.address == "" {
		return old
	}
	merged := description{address: next.address, postedAt: next.postedAt, metadata: next.metadata}
	was, is := old.known(platform), next.known(platform)
	best := was.With(is)
	if best.PostedAt != score.Undated {
		merged.postedAt = &best.PostedAt
	}
	if next.address == "" || score.ShortAddress(old.address) && platform == "youtube" {
		merged.address = cmp.Or(old.address, next.address)
	}
	if next.metadata == nil {
		merged.metadata = old.metadata
	} else if old.metadata != nil {
		merged.metadata = mergeMetadata(old.metadata, next.metadata, best.Duration == was.Duration && best.Duration != is.Duration)
	}
	// A Short that is known by its address alone is not one by its length.
	if best.Format == score.ShortFormat && merged.known(platform).Format != score.ShortFormat {
		merged.metadata = withMember(merged.metadata, basisMember, nil)
	}
	return merged
}

const (
	durationMember = "durationSeconds"
	basisMember    = "formatBasis"
	mediaMember    = "mediaType"
)

// mergeMetadata is next with the members of old that the library reads and next does not
// have, or has worse. longer says that the duration of old is the better one.
func mergeMetadata(old, next jsontext.Value, longer bool) jsontext.Value {
	had, ok := readMeta(old)
	has, sound := readMeta(next)
	if !ok || !sound {
		return next
	}
	edited := !isNothing(has.caption) && !bytes.Equal(had.caption, has.caption) && !isCut(plain(has.caption), plain(had.caption))
	for _, one := range metaMembers {
		name, was, is := one.name, *one.of(&had), *one.of(&has)
		if isNothing(was) {
			continue
		}
		keep := isNothing(is)
		switch name {
		case durationMember:
			keep = keep || longer
		case basisMember:
			keep = keep || plain(is) == score.ByLength
		case mediaMember:
			keep = keep || plain(was) == "short"
		case "caption", "title", "description":
			keep = keep || isCut(plain(is), plain(was))
		case "hashtags":
			keep = keep && !edited // another caption may have none
		}
		if keep && !bytes.Equal(was, is) {
			next = withMember(next, name, bytes.Clone(was))
		}
	}
	return next
}

// isNothing reports a value that says nothing.
func isNothing(value []byte) bool {
	switch string(value) {
	case "", "null", `""`, "[]", "{}", "0":
		return true
	}
	return false
}

// isCut reports a text that is the beginning of another one, as lists show it.
func isCut(text, whole string) bool {
	start := strings.TrimRight(strings.TrimSuffix(text, "…"), ". ")
	return len(text) < len(whole) && start != "" && strings.HasPrefix(whole, start) && start != text
}

// betterHandle is the one of two handles of a creator that names them on the platform: the
// later one, unless that is none, or a name for people where the earlier was a handle. Of
// two that differ in case alone it is always the same.
func betterHandle(old, next string) string {
	switch {
	case strings.TrimSpace(next) == "", isHandle(old) && !isHandle(next):
		return old
	case score.Handle(old) != score.Handle(next):
		return next
	case strings.TrimLeft(old, "@") > strings.TrimLeft(next, "@"):
		return old
	}
	return next
}

// isHandle reports what can be a handle, as against a name with spaces or a number.
func isHandle(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "@")
	_, err := strconv.ParseUint(text, 10, 64)
	return text != "" && err != nil && !strings.ContainsAny(text, " \t\n/,()|")
}

// description of a video, and of a record.
func (v *Video) description() description {
	return description{v.SourceURL, v.PostedAt, v.Metadata}
}

func descriptionOf(r *stage.Record) description {
	d := description{address: r.SourceURL, postedAt: r.PostedAt}
	if r.Metadata != nil {
		d.metadata = object(r.Metadata)
	}
	return d
}
