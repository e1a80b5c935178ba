package formats

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is one JSON object. Its members are read by path (`video.duration`); of
// a list, `0` names the first element, see [numbered]. A path that leads nowhere, or to another
// kind of value, reads as absent.
type object struct {
	*parser
	raw     []byte
	members map[string]jsontext.Value
	inner   map[string]*object
}

// parser cuts JSON text into members without copying it.
type parser struct {
	decoder jsontext.Decoder
	text    bytes.Reader
	top     map[string]jsontext.Value
	// names are those met before, so that each is allocated once.
	names map[string]string
}

var (
	errNoObject = errors.New("no JSON object")
	errTrailing = errors.New("something follows the object")
)

// parse checks that raw is one valid object and reads its members. It is good
// until the next call, as its map is used again.
func (p *parser) parse(raw []byte) (*object, error) {
	if jsontext.Value(raw).Kind() != '{' {
		return nil, errNoObject
	}
	clear(p.top)
	return &object{parser: p, raw: raw, members: p.top}, p.each(raw, func(name string, value jsontext.Value) { p.top[name] = value })
}

// each gives the members of an object, or the elements of a list without a name.
func (p *parser) each(raw []byte, take func(name string, value jsontext.Value)) error {
	p.text.Reset(raw)
	p.decoder.Reset(&p.text, lenient)
	start, err := p.decoder.ReadToken()
	if err != nil {
		return err
	}
	for kind := p.decoder.PeekKind(); kind != '}' && kind != ']'; kind = p.decoder.PeekKind() {
		name := ""
		if start.Kind() == '{' {
			quoted, err := p.decoder.ReadValue()
			if err != nil {
				return err
			}
			name = p.name(quoted)
		}
		from := p.decoder.InputOffset()
		if err := p.decoder.SkipValue(); err != nil {
			return err
		}
		take(name, bytes.TrimLeft(raw[from:p.decoder.InputOffset()], ",: \t\r\n"))
	}
	if _, err := p.decoder.ReadToken(); err != nil {
		return err
	}
	if _, err := p.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errTrailing, err)
	}
	return nil
}

func (p *parser) name(quoted jsontext.Value) string {
	if known, ok := p.names[string(quoted)]; ok {
		return known
	}
	name := string(textOf(quoted))
	if len(p.names) < 1000 { // more are no form's
		p.names[string(quoted)] = name
	}
	return name
}

// kind is that of a member, 0 if there is none.
func (o *object) kind(name string) jsontext.Kind {
	if value, ok := o.members[name]; ok {
		return value.Kind()
	}
	return 0
}

func (o *object) has(names ...string) bool {
	for _, name := range names {
		if kind := o.kind(name); kind == 0 || kind == 'n' {
			return false
		}
	}
	return true
}

func (o *object) any(names ...string) bool {
	for _, name := range names {
		if o.has(name) {
			return true
		}
	}
	return false
}

// within is the object that a value is; what is none has no members.
func (o *object) within(value jsontext.Value) *object {
	inner := &object{parser: o.parser}
	if value.Kind() == '{' {
		inner.members = map[string]jsontext.Value{}
		_ = o.each(value, func(name string, value jsontext.Value) { inner.members[name] = value }) // valid, as what it is in
	}
	return inner
}

// numbered is how many elements of a list have a path of their own.
const numbered = 20

// sub is a member that is an object, or a list whose elements are members by their numbers.
func (o *object) sub(name string) *object {
	if o.inner[name] == nil {
		inner := o.within(o.members[name])
		if all := o.values(name); len(all) > 0 {
			inner.members = make(map[string]jsontext.Value, min(len(all), numbered))
			for i, value := range all[:min(len(all), numbered)] {
				inner.members[strconv.Itoa(i)] = value
			}
		}
		if o.inner == nil {
			o.inner = map[string]*object{}
		}
		o.inner[name] = inner
	}
	return o.inner[name]
}

// maxNamed is how many counts a list may name.
const maxNamed = 60

// namedCounts are the counts in a list of objects that each name one, as [{"name": "views", "value": 5}]; nil if the
// list is none of them.
func (o *object) namedCounts(list jsontext.Value) (counts []member) {
	if list.Kind() != '[' {
		return nil
	}
	seen := map[string]bool{}
	for _, one := range (&object{parser: o.parser, members: map[string]jsontext.Value{"": list}}).objects("") {
		name, value := one.first("name key metric label title type"), jsontext.Value(nil)
		for _, member := range []string{"value", "val", "count", "total"} {
			if kind := one.kind(member); value == nil && (kind == '0' || kind == '"') {
				value = one.members[member]
			}
		}
		if name == "" || value == nil || seen[name] || len(seen) == maxNamed {
			return nil
		}
		seen[name], counts = true, append(counts, member{name: name, value: value})
	}
	return counts
}

func (o *object) at(path string) jsontext.Value {
	for {
		name, rest, more := strings.Cut(path, ".")
		if value, ok := o.members[path]; ok || !more {
			return value // also of a name with dots in it
		}
		o, path = o.sub(name), rest
	}
}

func (o *object) text(path string) text     { return textOf(o.at(path)) }
func (o *object) number(path string) number { return numberOf(o.at(path)) }
func (o *object) flag(path string) bool     { return o.at(path).Kind() == 't' }

// first is the first text of some paths, apart by spaces, that is not empty.
func (o *object) first(paths string) string {
	return first(every(o.text, paths)...)
}

// every reads paths that are apart by spaces.
func every[T any](read func(string) T, paths string) (all []T) {
	for path := range strings.FieldsSeq(paths) {
		all = append(all, read(path))
	}
	return all
}

// values are the elements of a list.
func (o *object) values(path string) (all []jsontext.Value) {
	if list := o.at(path); list.Kind() == '[' {
		_ = o.each(list, func(_ string, value jsontext.Value) { all = append(all, value) }) // valid, as what it is in
	}
	return all
}

// objects are the objects of a list.
func (o *object) objects(path string) (all []*object) {
	for _, value := range o.values(path) {
		all = append(all, o.within(value))
	}
	return all
}

// list are the texts of a list, or, behind a colon, of that member of its objects.
func (o *object) list(path string) (out []string) {
	path, member, objects := strings.Cut(path, ":")
	values := o.values(path)
	if objects {
		values = nil
		for _, value := range o.values(path) {
			var last jsontext.Value
			if value.Kind() == '{' {
				_ = o.each(value, func(name string, value jsontext.Value) {
					if name == member {
						last = value
					}
				})
			}
			values = append(values, last)
		}
	}
	for _, value := range values {
		if t := textOf(value); t != "" {
			out = append(out, string(t))
		}
	}
	return out
}
