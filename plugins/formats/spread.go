package formats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// spread are the columns of a table whose cells are objects, in JSON or as Python prints them:
// their members become columns of their own, named `column.member`, behind those that there are.
type spread struct {
	// width is how many columns the table has itself.
	width int
	// columns are those with objects, and paths the members of each, in their order.
	columns []int
	paths   [][]string
	parser  parser
}

// maxMembers bounds the columns that the objects of a table become.
const maxMembers = 300

// spreadOf looks for objects in the sample of a table, and puts their members beside it; nil
// without any.
func spreadOf(header []string, sample [][]string) (s *spread, names []string, rows [][]string) {
	s = &spread{width: len(header), parser: newParser()}
	members := 0
	for column := range header {
		var paths []string
		seen, objects, texts := map[string]bool{}, 0, 0
		for _, row := range sample {
			if column >= len(row) || row[column] == "" {
				continue
			}
			texts++
			o := s.object([]byte(row[column]))
			if o == nil {
				continue
			}
			objects++
			flatten(o, "", 0, func(path, _ string) {
				if !seen[path] && members < maxMembers {
					seen[path] = true
					paths = append(paths, path)
					members++
				}
			})
		}
		if objects > 0 && 2*objects >= texts {
			s.columns, s.paths = append(s.columns, column), append(s.paths, paths)
		} else {
			members -= len(paths)
		}
	}
	if len(s.columns) == 0 {
		return nil, header, sample
	}
	names = slices.Clone(header)
	for i, column := range s.columns {
		for _, path := range s.paths[i] {
			names = append(names, header[column]+"."+path)
		}
	}
	for _, row := range sample {
		cells := make([][]byte, len(row))
		for i, text := range row {
			cells[i] = []byte(text)
		}
		cells, _ = s.row(cells)
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = string(cell)
		}
		rows = append(rows, texts)
	}
	return s, names, rows
}

// row puts the members of a row's objects behind its cells. broken are the columns whose text
// begins as an object and is none, such as one that was cut off.
func (s *spread) row(row [][]byte) (out [][]byte, broken []int) {
	out = row[:len(row):len(row)]
	if len(row) != s.width {
		return out, nil
	}
	for i, column := range s.columns {
		text := bytes.TrimSpace(row[column])
		o := s.object(text)
		if o == nil && len(text) > 0 && text[0] == '{' {
			broken = append(broken, column)
		}
		for _, path := range s.paths[i] {
			if o == nil {
				out = append(out, nil)
				continue
			}
			out = append(out, cell(o, path))
		}
	}
	return out, broken
}

// object is the object that a cell is; nil if it is none.
func (s *spread) object(text []byte) *object {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' {
		return nil
	}
	for _, form := range []func([]byte) []byte{func(text []byte) []byte { return text }, pythonJSON} {
		raw := form(text)
		if o, err := s.parser.parse(raw); err == nil && len(o.members) > 0 {
			return o.within(raw) // the parser's own is used again
		}
	}
	return nil
}

// pythonJSON is a value as Python prints it as JSON; what cannot be one comes out as no JSON.
func pythonJSON(text []byte) []byte {
	out := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			var ok bool
			if out, i, ok = pythonText(out, text, i); !ok {
				return nil
			}
		case c == '(': // a tuple
			out = append(out, '[')
			i++
		case c == ')', c == ',' && closes(text[i+1:]): // a comma may be behind the last one
			if c == ')' {
				out = append(out, ']')
			}
			i++
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			end := i
			for end < len(text) && (text[end] == '_' || text[end] == '.' || text[end] >= '0' && text[end] <= '9' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
				end++
			}
			word, known := pythonWords[string(text[i:end])]
			if !known {
				return nil
			}
			out, i = append(out, word...), end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

var pythonWords = map[string]string{"None": "null", "True": "true", "False": "false", "nan": "null", "NaN": "null", "null": "null", "true": "true", "false": "false"}

// closes reports that the next sign closes something.
func closes(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '}' || text[0] == ']' || text[0] == ')')
}

// pythonText writes the text that begins with the quote at i as one of JSON.
func pythonText(out, text []byte, i int) (written []byte, next int, ok bool) {
	mark := text[i]
	var plain strings.Builder
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == mark:
			return quote(out, plain.String()), i + 1, true
		case c != '\\':
			plain.WriteByte(c)
		case i+1 == len(text):
			return out, i, false
		default:
			i++
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[i]]
			if digits > 0 {
				if i+digits >= len(text) {
					return out, i, false
				}
				r, err := strconv.ParseUint(string(text[i+1:i+1+digits]), 16, 32)
				if err != nil {
					return out, i, false
				}
				plain.WriteRune(max(0, min(rune(r), utf8.MaxRune)))
				i += digits
				continue
			}
			if at := strings.IndexByte("ntr\\'\"", text[i]); at >= 0 {
				plain.WriteByte("\n\t\r\\'\""[at])
			} else {
				plain.WriteByte('\\')
				plain.WriteByte(text[i])
			}
		}
	}
	return out, i, false
}

func newParser() parser {
	return parser{top: map[string]jsontext.Value{}, names: map[string]string{}}
}
