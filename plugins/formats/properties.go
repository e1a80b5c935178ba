package formats

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// properties writes a JSON object in a fixed order; empty values are left out.
type properties struct{ body []byte }

func (p *properties) raw(name string, value []byte) {
	if len(value) == 0 {
		return
	}
	if len(p.body) > 0 {
		p.body = append(p.body, ',')
	}
	p.body = quote(p.body, name)
	p.body = append(p.body, ':')
	p.body = append(p.body, value...)
}

func (p *properties) text(name, value string) {
	if value != "" {
		p.raw(name, quote(nil, value))
	}
}

func (p *properties) number(name string, value float64) {
	p.raw(name, strconv.AppendFloat(nil, value, 'f', -1, 64))
}

func (p *properties) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	body := []byte{'['}
	for i, value := range values {
		if i > 0 {
			body = append(body, ',')
		}
		body = quote(body, value)
	}
	p.raw(name, append(body, ']'))
}

func (p *properties) object() json.RawMessage {
	if len(p.body) == 0 {
		return nil
	}
	return json.RawMessage(p.whole())
}

// quote cannot fail on text that cleanText has seen.
func quote(to []byte, s string) []byte {
	out, err := jsontext.AppendQuote(to, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(to, cleanText(s))
	}
	return out
}

// fold is the form in which tags are compared.
func fold(s string) string { return strings.ToLower(s) }

// whole is the object even where it has no properties.
func (p *properties) whole() []byte {
	return []byte("{" + string(p.body) + "}")
}
