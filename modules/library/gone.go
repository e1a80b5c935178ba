package library

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// goneMember is the member of a Video's metadata that holds the time, in Unix
// milliseconds, since when the platform is known to have removed the video.
const goneMember = "goneAt"

// markGone adds the member, unless the platform's own metadata has one of that name.
func (v *Video) markGone(at int64) {
	v.goneAt = &at
	if _, taken := memberOf(v.Metadata, goneMember); !taken {
		v.Metadata = withMember(v.Metadata, goneMember, jsontext.Value(strconv.FormatInt(at, 10)))
	}
}

// restore removes what markGone added.
func (v *Video) restore() {
	if v.goneAt == nil {
		return
	}
	if at, _ := memberOf(v.Metadata, goneMember); string(at) == strconv.FormatInt(*v.goneAt, 10) {
		v.Metadata = withMember(v.Metadata, goneMember, nil)
	}
	v.goneAt = nil
}

// memberOf returns a member of an object.
func memberOf(object jsontext.Value, name string) (value jsontext.Value, found bool) {
	eachMember(object, func(n, v jsontext.Value) {
		if text, err := jsontext.AppendUnquote(nil, n); err == nil && string(text) == name {
			value, found = v, true
		}
	})
	return value, found
}

// withMember returns the object with the member at its end, or without it where
// value is nil. All else stays byte for byte.
func withMember(object jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, jsontext.PreserveRawStrings(true))
	write := func(name, value jsontext.Value) { // a bytes.Buffer takes everything
		_ = encoder.WriteValue(name)
		_ = encoder.WriteValue(value)
	}
	_ = encoder.WriteToken(jsontext.BeginObject)
	quoted, _ := jsontext.AppendQuote(nil, name)
	eachMember(object, func(n, v jsontext.Value) {
		if !bytes.Equal(n, quoted) {
			write(n, v)
		}
	})
	if value != nil {
		write(quoted, value)
	}
	_ = encoder.WriteToken(jsontext.EndObject)
	return bytes.TrimSpace(out.Bytes())
}

func eachMember(object jsontext.Value, do func(name, value jsontext.Value)) {
	in := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := in.ReadToken(); err != nil {
		return
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadValue()
		if err != nil {
			return
		}
		name = name.Clone()
		value, err := in.ReadValue()
		if err != nil {
			return
		}
		do(name, value.Clone())
	}
}
