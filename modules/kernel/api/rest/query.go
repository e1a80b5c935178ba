package rest

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Query decodes the query of a request; wanted is false for methods that take none.
func (d *Decoder) Query(text string, message protoreflect.Message, s *Shape, wanted bool) {
	if text == "" {
		return
	}
	seen := map[string]bool{}
	for _, pair := range strings.Split(text, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			d.Report(rawName, "is not a valid query parameter name")
			continue
		}
		f := s.byName[name]
		switch {
		case !wanted || f == nil || f.rpcOnly:
			d.unknownParameter(name, s, wanted)
			continue
		case seen[name]:
			d.Report(name, "is repeated")
			continue
		}
		seen[name] = true
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			d.Report(name, "is not a valid query parameter value")
			continue
		}
		if f.list { // of texts, see Shape.Readable
			list := message.Mutable(f.desc).List()
			for i, item := range strings.Split(value, ",") {
				list.Append(protoreflect.ValueOfString(item))
				if !IsSound(item) {
					d.Report(f.name+"["+strconv.Itoa(i)+"]", BadText)
				}
			}
			continue
		}
		d.parameter(message, f, value)
	}
}

func (d *Decoder) unknownParameter(name string, s *Shape, wanted bool) {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if wanted {
		d.unknown(name, s)
		return
	}
	d.Report(name, "is not known; this request takes no query parameters")
}

// parameter sets one field from the text of a parameter.
func (d *Decoder) parameter(message protoreflect.Message, f *field, text string) {
	switch f.kind {
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || strconv.FormatInt(n, 10) != text {
			d.Report(f.name, "must be %s", wholeWanted(f.desc))
			return
		}
		message.Set(f.desc, protoreflect.ValueOfInt32(int32(n)))
	case protoreflect.DoubleKind:
		n, ok := timeOf(text)
		if !isTime(f.desc) {
			n, _ = strconv.ParseFloat(text, 64) // of at most 32 digits
			ok = isPlainNumber(text)
		}
		if !ok {
			d.Report(f.name, "must be %s", numberWanted(f.desc))
			return
		}
		message.Set(f.desc, protoreflect.ValueOfFloat64(n))
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			d.Report(f.name, "must be true or false")
			return
		}
		message.Set(f.desc, protoreflect.ValueOfBool(text == "true"))
	default:
		if !IsSound(text) {
			d.Report(f.name, BadText)
			return
		}
		message.Set(f.desc, protoreflect.ValueOfString(text))
	}
}

// isPlainNumber reports whether text is a number as a query has it: at most 16 digits, and
// as many behind a point.
func isPlainNumber(text string) bool {
	whole, part, hasPart := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := func(s string) bool { return s != "" && len(s) <= 16 && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (!hasPart || digits(part))
}

// IsSound reports whether text can be stored: valid UTF-8 without NUL.
func IsSound(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}
