package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/nearest"
)

// Decoder reads the input of one call into a message, strictly. It continues after a fault, so
// that one answer lists all of them. It may be used again after Reset, by one goroutine at a time.
type Decoder struct {
	Issues Issues
	// Raw are the free-form properties as they were sent.
	Raw []RawField
	// Broken is whether the body is missing, malformed or too large: faults inside it say nothing.
	Broken bool
	buffer bytes.Buffer
	text   []byte
	json   *jsontext.Decoder
}

// LargestKept is the largest buffer, in bytes, that goes back to a pool.
const LargestKept = 256 << 10

// RawField is a free-form property: its name and its compact JSON.
type RawField struct {
	Name string
	Text json.RawMessage
}

// NewDecoder returns a decoder without input.
func NewDecoder() *Decoder { return &Decoder{json: jsontext.NewDecoder(&bytes.Buffer{})} }

// Reset prepares the decoder for the next input.
func (d *Decoder) Reset() {
	d.Issues, d.Raw, d.Broken = Issues{}, nil, false
	d.buffer.Reset()
	if d.buffer.Cap() > LargestKept {
		d.buffer = bytes.Buffer{}
	}
	if cap(d.text) > LargestKept {
		d.text = nil
	}
}

// Report adds a fault, as Issues.Add.
func (d *Decoder) Report(path, format string, args ...any) { d.Issues.Add(path, format, args...) }

// abandon reports a fault of the whole body.
func (d *Decoder) abandon(format string, args ...any) {
	d.Broken = true
	d.Report("", format, args...)
}

// ReadBody decodes the body of a request, up to the limit in bytes, into a message.
func (d *Decoder) ReadBody(w http.ResponseWriter, r *http.Request, limit int64, message protoreflect.Message, s *Shape) {
	if d.contentType(r.Header) && d.read(w, r, limit) {
		d.body(message, s)
	}
}

// Parse decodes a JSON object that was read before.
func (d *Decoder) Parse(text []byte, message protoreflect.Message, s *Shape) {
	d.buffer.Write(text)
	d.body(message, s)
}

// contentType accepts only uncompressed JSON in UTF-8.
func (d *Decoder) contentType(h http.Header) bool {
	sent := h.Get("Content-Type")
	if sent != "application/json" {
		kind, params, err := mime.ParseMediaType(sent)
		charset := params["charset"]
		if err != nil || kind != "application/json" || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
			if formData(sent) {
				d.abandon("the content type must be application/json, and this is form data; with curl, add -H 'Content-Type: application/json'")
			} else {
				d.abandon("the content type must be application/json")
			}
			return false
		}
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		d.abandon("a compressed body is not accepted")
		return false
	}
	return true
}

// read reads the whole body, up to the limit.
func (d *Decoder) read(w http.ResponseWriter, r *http.Request, limit int64) bool {
	tooLarge := func() bool {
		d.abandon("the body is larger than %d KiB", limit/1024)
		return false
	}
	if r.ContentLength > limit {
		return tooLarge()
	}
	if err := d.readAll(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return tooLarge()
		}
		d.abandon("the body could not be read to its end")
		return false
	}
	if len(bytes.TrimSpace(d.buffer.Bytes())) == 0 {
		d.abandon("the body is empty; send a JSON object")
		return false
	}
	if beginsWithMark(d.buffer.Bytes()) {
		d.abandon("the body begins with a byte order mark; save it as UTF-8 without one")
		return false
	}
	return true
}

// readAll fills the buffer, which grows by a quarter: that of a bytes.Buffer doubles.
func (d *Decoder) readAll(body io.Reader) error {
	d.buffer.Grow(bytes.MinRead)
	text := d.buffer.AvailableBuffer()
	for {
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil {
			d.buffer = *bytes.NewBuffer(text)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// body decodes the JSON object in the buffer.
func (d *Decoder) body(message protoreflect.Message, s *Shape) {
	d.json.Reset(&d.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch d.json.PeekKind() {
	case '{':
	case jsontext.KindInvalid:
		_, err := d.json.ReadToken()
		d.syntax(err)
		return
	default:
		if err := d.json.SkipValue(); err != nil {
			d.syntax(err)
			return
		}
		d.abandon("the body must be a JSON object")
		return
	}
	if err := d.object(message, s); err != nil {
		d.syntax(err)
		return
	}
	if _, err := d.json.ReadToken(); !errors.Is(err, io.EOF) {
		d.abandon("there is data after the JSON object")
	}
}

func (d *Decoder) syntax(err error) {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		d.abandon("the body is not valid JSON at byte %d", syntactic.ByteOffset)
		return
	}
	d.abandon("the body is not valid JSON: it ends too early")
}

// object decodes the members of an object. It returns errors of syntax only.
func (d *Decoder) object(message protoreflect.Message, s *Shape) error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	var seen uint64
	for d.json.PeekKind() != '}' {
		name, sound, err := d.string()
		if err != nil {
			return err
		}
		f := s.byName[string(name)]
		if f == nil || f.rpcOnly || !sound {
			d.unknown(string(name), s)
			if err := d.json.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if seen&(1<<f.index) != 0 {
			d.Report(f.name, "is repeated")
			if err := d.json.SkipValue(); err != nil {
				return err
			}
			continue
		}
		seen |= 1 << f.index
		if err := d.member(message, f); err != nil {
			return err
		}
	}
	_, err := d.json.ReadToken()
	return err
}

// unknown reports an unknown name, with the known one that is nearest.
func (d *Decoder) unknown(name string, s *Shape) {
	var known []string
	for _, f := range s.fields {
		if !f.rpcOnly {
			known = append(known, f.name)
		}
	}
	d.Report(name, "is not known%s", nearest.Hint(name, known))
}

// member decodes one property into its field.
func (d *Decoder) member(message protoreflect.Message, f *field) error {
	if f.message != nil {
		return d.free(message, f)
	}
	if f.list {
		return d.list(message, f)
	}
	value, ok, err := d.scalar(f, f.name)
	if ok && err == nil {
		message.Set(f.desc, value)
	}
	return err
}

func (d *Decoder) list(message protoreflect.Message, f *field) error {
	if d.json.PeekKind() != '[' {
		return d.mismatch(f.name, "a list")
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	list := message.Mutable(f.desc).List()
	n := 0
	for ; d.json.PeekKind() != ']'; n++ {
		value, ok, err := d.scalar(f, f.name+"["+strconv.Itoa(n)+"]")
		if err != nil {
			return err
		}
		if !ok {
			value = f.desc.Default() // keeps the indexes of the later items
			if f.kind == protoreflect.StringKind {
				value = protoreflect.ValueOfString("")
			}
		}
		list.Append(value)
	}
	if n == 0 && f.emptySets != nil {
		message.Set(f.emptySets, protoreflect.ValueOfBool(true))
	}
	_, err := d.json.ReadToken()
	return err
}

// scalar decodes a string, a number or a boolean. ok is false after a fault.
func (d *Decoder) scalar(f *field, path string) (value protoreflect.Value, ok bool, err error) {
	switch kind := d.json.PeekKind(); {
	case f.kind == protoreflect.StringKind && kind == '"':
		text, sound, err := d.string()
		if err != nil {
			return value, false, err
		}
		if !sound || bytes.IndexByte(text, 0) >= 0 {
			d.Report(path, BadText)
			return value, false, nil
		}
		return protoreflect.ValueOfString(string(text)), true, nil
	case f.kind == protoreflect.StringKind:
		return value, false, d.mismatch(path, "a string")
	case f.kind == protoreflect.BoolKind && (kind == 't' || kind == 'f'):
		_, err := d.json.ReadToken()
		return protoreflect.ValueOfBool(kind == 't'), true, err
	case f.kind == protoreflect.BoolKind:
		return value, false, d.mismatch(path, "true or false")
	case kind == '0':
		number, err := d.json.ReadValue()
		if err != nil {
			return value, false, err
		}
		if f.kind == protoreflect.DoubleKind {
			n, err := strconv.ParseFloat(string(number), 64)
			if err != nil {
				d.Report(path, "must be a number of 64 bits")
			}
			return protoreflect.ValueOfFloat64(n), err == nil, nil
		}
		whole, ok := wholeNumber(string(number))
		if !ok {
			d.Report(path, "must be %s", wholeWanted(f.desc))
		}
		return protoreflect.ValueOfInt32(whole), ok, nil
	case kind == '"' && isTime(f.desc):
		text, _, err := d.string()
		if err != nil {
			return value, false, err
		}
		at, ok := timeOf(string(text))
		if ok = ok && !isPlainNumber(string(text)); !ok {
			d.Report(path, "must be %s", wantedTime)
		}
		return protoreflect.ValueOfFloat64(at), ok, nil
	case f.kind == protoreflect.DoubleKind:
		return value, false, d.mismatch(path, numberWanted(f.desc))
	default:
		return value, false, d.mismatch(path, wholeWanted(f.desc))
	}
}

// BadText says what is wrong with text that IsSound refuses.
const BadText = "must be text without NUL, in valid Unicode"

// wholeNumber reads an integer in any JSON spelling: 5, 5.0, 5e0.
func wholeNumber(text string) (int32, bool) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return int32(n), true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != float64(int32(n)) {
		return 0, false
	}
	return int32(n), true
}

// mismatch reports a value of the wrong type and skips it. Malformed text is reported
// as a fault of syntax only.
func (d *Decoder) mismatch(path, wanted string) error {
	kind := d.json.PeekKind()
	if err := d.json.SkipValue(); err != nil {
		return err
	}
	if kind == 'n' {
		d.Report(path, "must be %s, not null; leave it out instead", wanted)
	} else {
		d.Report(path, "must be %s", wanted)
	}
	return nil
}

// string reads a JSON string. sound is false for a lone surrogate and for invalid
// UTF-8. The text is valid until the next read.
func (d *Decoder) string() (text []byte, sound bool, err error) {
	value, err := d.json.ReadValue()
	if err != nil {
		return nil, false, err
	}
	d.text, err = jsontext.AppendUnquote(d.text[:0], value)
	return d.text, err == nil, nil
}

// HasBody reports whether a request has a body.
func HasBody(r *http.Request) bool {
	if r.ContentLength >= 0 || r.Body == nil {
		return r.ContentLength > 0
	}
	var one [1]byte
	n, _ := io.ReadFull(r.Body, one[:])
	return n > 0
}
