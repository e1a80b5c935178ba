package stage

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of an object, as it is written.
type member struct {
	name string
	// label is the quoted name with what is between it and the value.
	label, value []byte
	dropped      bool
}

func (m *member) size() int { return len(m.label) + len(m.value) + 1 }

// known reports a member that is never left out while another one can be.
func (m *member) known() bool {
	return m.name == "caption" || m.name == "hashtags" || m.name == "durationSeconds" || strings.HasPrefix(m.name, "sound")
}

// fitObject returns an object of at most [MaxMetadata] bytes. It leaves out the largest members
// that are not [member.known], and changes no byte of the others. The known ones alone may have
// [MaxKnown]; beyond that it cuts the largest of them: a text at a character's border, a list
// behind an element. It returns false for what is no object.
func fitObject(raw []byte) ([]byte, bool) {
	members, ok := membersOf(raw)
	if !ok {
		return nil, false
	}
	total := 1 // the braces, less the comma that the last member does not have
	bySize := make([]*member, len(members))
	for i := range members {
		bySize[i] = &members[i]
		total += members[i].size()
	}
	slices.SortStableFunc(bySize, func(a, b *member) int { return cmp.Compare(b.size(), a.size()) })
	for _, m := range bySize {
		if total > MaxMetadata && !m.known() {
			m.dropped = true
			total -= m.size()
		}
	}
	for _, m := range bySize {
		if total <= MaxKnown || m.dropped {
			continue
		}
		total -= m.size()
		m.value = shorten(m.value, MaxKnown-total-len(m.label)-1)
		if m.dropped = m.value == nil; !m.dropped {
			total += m.size()
		}
	}
	out := make([]byte, 0, max(total, 2))
	out = append(out, '{')
	for _, m := range members {
		if m.dropped {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, m.label...), m.value...)
	}
	return append(out, '}'), true
}

// membersOf takes an object apart.
func membersOf(raw []byte) (members []member, ok bool) {
	in := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	if token, err := in.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for in.PeekKind() != '}' {
		quoted, err := in.ReadValue()
		if err != nil {
			return nil, false
		}
		name, err := jsontext.AppendUnquote(nil, quoted)
		start := int(in.InputOffset()) - len(quoted)
		if err != nil {
			return nil, false
		}
		value, err := in.ReadValue()
		if err != nil {
			return nil, false
		}
		end := int(in.InputOffset())
		members = append(members, member{name: string(name), label: raw[start : end-len(value)], value: raw[end-len(value) : end]})
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, false
	}
	_, err := in.ReadToken()
	return members, errors.Is(err, io.EOF)
}

// shorten cuts a JSON string or list down to limit bytes; nil if nothing of it fits.
func shorten(value []byte, limit int) []byte {
	switch {
	case limit < 2:
		return nil
	case value[0] == '"':
		return shortText(value, limit)
	case value[0] == '[':
		return shortList(value, limit)
	}
	return nil
}

func shortText(value []byte, limit int) []byte {
	end := 1
	for end < len(value)-1 {
		step := 2
		if unit, ok := escape(value, end); ok {
			if step = 6; unit >= 0xD800 && unit < 0xDC00 && low(value, end+6) {
				step = 12
			}
		} else if value[end] != '\\' {
			_, step = utf8.DecodeRune(value[end:])
		}
		if end+step+1 > limit {
			break
		}
		end += step
	}
	return append(bytes.Clone(value[:end]), '"')
}

func shortList(value []byte, limit int) []byte {
	in := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	_, err := in.ReadToken()
	out := []byte{'['}
	for err == nil && in.PeekKind() != ']' {
		var element jsontext.Value
		if element, err = in.ReadValue(); err != nil || len(out)+len(element)+2 > limit {
			break
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return append(out, ']')
}
