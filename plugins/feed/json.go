package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// documentLimit is the largest single value of a JSON file that is held at once:
// a video's info JSON with all its formats fits many times over.
const documentLimit = 32 << 20

// jsonLines reads one video a line, in the feed's form or as yt-dlp prints it.
func (r *reading) jsonLines(in io.Reader) error {
	lines := newLines(in)
	for number := 1; ; number++ {
		line, err := lines.next()
		r.report.Long += lines.long
		number += lines.long
		lines.long = 0
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := r.value(cleanJSON(line), nil, fmt.Sprintf("line %d", number)); err != nil {
			return err
		}
	}
}

// shape tells the two forms apart.
type shape struct {
	ExternalID jsontext.Value `json:"externalId"`
	Platform   jsontext.Value `json:"platform"`
	ID         jsontext.Value `json:"id"`
	Entries    jsontext.Value `json:"entries"`
}

// value takes one JSON object; what is no video is counted. The error is emit's.
func (r *reading) value(raw []byte, list *info, where string) error {
	rec, doubtful, err := r.decode(raw, list)
	if errors.Is(err, errPlaylist) {
		return r.playlist(raw)
	}
	if err != nil {
		r.broken(where, err)
		return nil
	}
	r.report.Doubtful += doubtful
	return r.take(rec)
}

var errPlaylist = errors.New("a playlist")

func (r *reading) decode(raw []byte, list *info) (stage.Record, int, error) {
	var own video
	if !bytes.Contains(raw, []byte(`"externalId"`)) {
		return r.decodeInfo(raw, list)
	}
	if err := jsonx.Unmarshal(raw, &own); err != nil {
		return stage.Record{}, 0, err
	}
	if own.ExternalID == "" && own.Platform == "" {
		return r.decodeInfo(raw, list)
	}
	if !r.options.sample {
		own.PostedDaysAgo = nil
	}
	return own.record(r.options.Now)
}

func (r *reading) decodeInfo(raw []byte, list *info) (stage.Record, int, error) {
	var form shape
	if err := jsonx.Unmarshal(raw, &form); err != nil {
		return stage.Record{}, 0, err
	}
	if form.Entries.Kind() == '[' {
		return stage.Record{}, 0, errPlaylist
	}
	if len(form.ID) == 0 {
		return stage.Record{}, 0, errNoVideo
	}
	var found info
	if err := jsonx.Unmarshal(raw, &found); err != nil {
		return stage.Record{}, 0, err
	}
	if list != nil {
		found.inherit(list)
	}
	return found.record()
}

// playlist takes a playlist that lies in memory, such as a line of `yt-dlp -J`.
func (r *reading) playlist(raw []byte) error {
	return r.object(jsontext.NewDecoder(bytes.NewReader(raw)))
}

// documents reads a JSON file: one value or several, each a video, an array of
// videos, or a playlist with entries. At the first fault of syntax the rest of
// the file is given up and counted once.
func (r *reading) documents(in io.Reader) error {
	guard := &bounded{in: in}
	dec := jsontext.NewDecoder(guard, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	guard.done = dec.InputOffset
	for {
		var err error
		switch dec.PeekKind() {
		case '[':
			err = r.array(dec, nil)
		case '{':
			err = r.object(dec)
		default:
			_, err = dec.ReadToken()
			if err == nil {
				r.broken(fmt.Sprintf("byte %d", dec.InputOffset()), errNoVideo)
			}
		}
		var refused *emitError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &refused):
			return err
		case err != nil:
			r.broken(fmt.Sprintf("byte %d", dec.InputOffset()), err)
			return nil
		}
	}
}

func (r *reading) array(dec *jsontext.Decoder, list *info) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return notEnd(err)
		}
		if raw.Kind() == 'n' {
			continue // an entry that yt-dlp could not read
		}
		if err := r.value(cleanJSON(raw), list, fmt.Sprintf("byte %d", dec.InputOffset())); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return notEnd(err)
}

// object reads an object member by member, so that the entries of a playlist
// stream; what stands before them is inherited by flat entries.
func (r *reading) object(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var rest properties
	entries := false
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return notEnd(err)
		}
		key := cleanText(name.String())
		if key == "entries" && dec.PeekKind() == '[' {
			entries = true
			if err := r.array(dec, listInfo(rest.object())); err != nil {
				return err
			}
			continue
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return notEnd(err)
		}
		if len(rest.body)+len(raw) > documentLimit {
			return errTooLarge
		}
		rest.raw(key, cleanJSON(raw))
	}
	if _, err := dec.ReadToken(); err != nil {
		return notEnd(err)
	}
	if entries {
		return nil
	}
	return r.value(rest.whole(), nil, fmt.Sprintf("byte %d", dec.InputOffset()))
}

func listInfo(raw []byte) *info {
	var list info
	if len(raw) == 0 || jsonx.Unmarshal(raw, &list, jsontext.AllowDuplicateNames(true)) != nil {
		return nil
	}
	return &list
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errTooLarge = fmt.Errorf("a value of more than %d bytes", documentLimit)

// bounded ends a stream whose reader holds more than documentLimit at once.
type bounded struct {
	in   io.Reader
	read int64
	// done is how far the reader has come.
	done func() int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read-b.done() > documentLimit {
		return 0, errTooLarge
	}
	n, err := b.in.Read(p)
	b.read += int64(n)
	return n, err
}
