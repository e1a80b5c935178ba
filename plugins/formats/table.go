package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// sampled is how much of a table is looked at before the first row is read.
const sampled = 1 << 20

// maxHeader is how many rows may be above the header.
const maxHeader = 30

// delimiters are those that are looked for.
const delimiters = ",;\t|"

// csv reads a table of text: first a look at its start, then row by row.
func (r *tables) csv(in *bufio.Reader, name string) error {
	m, err := r.findMap(name)
	if err != nil {
		return err
	}
	in = bufio.NewReaderSize(in, sampled)
	start, err := in.Peek(sampled)
	if len(bytes.TrimSpace(start)) == 0 {
		r.out.skip(Empty, 0, "the file is empty: there are no videos in it")
		return nil
	}
	whole := err != nil
	in, start, err = r.decode(in, start, whole)
	if err != nil {
		return err
	}
	first := 0
	comma, lines := byte(0), 0
	if m != nil && m.Delimiter != "" {
		comma = m.Delimiter[0]
	} else if line, _, _ := bytes.Cut(start, []byte("\n")); len(line) < 20 && bytes.HasPrefix(bytes.ToLower(line), []byte("sep=")) && len(bytes.TrimRight(line, "\r")) >= 5 {
		comma, first, lines = line[4], len(line)+1, 1
		_, _ = in.Discard(min(first, len(start))) // it was seen to be there
		start = start[min(first, len(start)):]
	}
	comma, header, sample := r.layout(start, whole, comma, name, m)
	if header == nil {
		r.out.skip(Empty, 0, "no rows: there are no videos in it")
		return nil
	}
	r.out.report.form("CSV divided by %s", delimiterName(comma))
	if whole && m == nil && header.score < turnedBelow {
		all, _ := sampleRows(start, comma, true)
		if turned := r.turn(all, header); turned != nil {
			return r.turned(turned)
		}
	}
	switch {
	case header.row < 0:
		r.out.report.form("a list of addresses, without a header")
	case header.line > 1:
		r.out.report.form("the header in line %d", header.line+lines)
	}
	if err := header.valid(); err != nil {
		return err
	}
	if len(sample) == 0 && whole && !r.options.check {
		if bytes.Count(start, []byte(`"`))%2 == 1 {
			return errors.New("a quote that is never closed: no row can be told from the next")
		}
		r.out.skip(Empty, 0, "a header without rows: there are no videos in it")
		return nil
	}
	rows := newRows(in, comma, LineLimit)
	rows.passed, rows.blanks = lines, blanksBefore(start, comma)
	for range header.row + 1 {
		if _, err := rows.next(); err != nil && !isFieldError(err) {
			return fmt.Errorf("header: %w", err)
		}
	}
	if r.options.check && m == nil {
		return nil
	}
	if m == nil {
		if long := r.long(header.names, ofWidth(sample, len(header.names))); long != nil {
			return r.longRows(long, rows)
		}
	}
	t, err := r.lay(m, header.names, ofWidth(sample, len(header.names)))
	if err != nil || r.options.check {
		return err
	}
	return r.tableRows(t, rows)
}

// blanksBefore reports a table that writes `a, "b"`: a blank, and then a whole quoted field.
func blanksBefore(start []byte, comma byte) bool {
	quoted := append([]byte{comma}, ` "`...)
	found := false
	for at := bytes.Index(start, quoted); at >= 0; at = bytes.Index(start, quoted) {
		start = start[at+len(quoted):]
		end := bytes.IndexByte(start, '"')
		if end < 0 || bytes.IndexByte(start[:end], '\n') >= 0 {
			return false
		}
		if start = start[end+1:]; len(start) > 0 && start[0] != comma && start[0] != '\r' && start[0] != '\n' {
			return false
		}
		found = true
	}
	return found
}

// ofWidth are the rows with as many fields as the header, if there are any: the others are not read.
func ofWidth(rows [][]string, width int) [][]string {
	var kept [][]string
	for _, row := range rows {
		for len(row) > width && row[len(row)-1] == "" {
			row = row[:len(row)-1]
		}
		if len(row) == width {
			kept = append(kept, row)
		}
	}
	if len(kept) == 0 {
		return rows
	}
	return kept
}

func isFieldError(err error) bool {
	var bad *fieldError
	return errors.As(err, &bad)
}

func delimiterName(comma byte) string {
	switch comma {
	case ',':
		return "commas"
	case '\t':
		return "tabs"
	}
	return fmt.Sprintf("%q", string(comma))
}

// decode makes UTF-8 with line feeds of a table in another encoding, or with other line ends.
func (r *tables) decode(in *bufio.Reader, start []byte, whole bool) (*bufio.Reader, []byte, error) {
	again := func(decoded io.Reader) (*bufio.Reader, []byte, error) {
		in := bufio.NewReaderSize(decoded, sampled)
		start, err := in.Peek(sampled)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		return in, start, nil
	}
	if plain := validText(start, whole); !r.marked && (!plain || twoEncodings(start)) {
		by := r.encodingOf(start, whole)
		switch {
		case by != nil:
			r.out.report.form("%s, %s", by.name, by.where(start))
			var err error
			if in, start, err = again(by.reader(in)); err != nil {
				return nil, nil, err
			}
		case !plain:
			return nil, nil, errors.New("the text is not UTF-8, and in no other encoding are its columns known: save the file as UTF-8")
		}
	}
	if bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(start, '\r') >= 0 {
		return again(&lineFeeds{in})
	}
	if quotedRows(start) {
		r.out.report.form("rows that are quoted whole")
		return again(&unquotedRows{lines: newLines(in, LineLimit)})
	}
	return in, start, nil
}

// textEncoding is one that spreadsheets write.
type textEncoding struct {
	name string
	encoding.Encoding
}

// reader decodes text. Of an encoding with one byte a letter, lines of UTF-8 stay as they are: they are
// of another file that was put before or behind this one.
func (e *textEncoding) reader(in *bufio.Reader) io.Reader {
	if e.single() {
		return &mixedLines{in: in, by: e}
	}
	return e.NewDecoder().Reader(in)
}

// single reports an encoding with one byte a letter.
func (e *textEncoding) single() bool {
	_, ok := e.Encoding.(*charmap.Charmap)
	return ok
}

// where says which part of a text is in the encoding.
func (e *textEncoding) where(start []byte) string {
	for line := range bytes.Lines(start) {
		if e.single() && utf8.Valid(line) && bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return "in the lines that are no UTF-8"
		}
	}
	return "since it is no UTF-8"
}

// twoEncodings reports a line without any letter of UTF-8 in which a broken one stands before a plain
// letter or a blank, as none does where a text was cut off.
func twoEncodings(start []byte) bool {
	for line := range bytes.Lines(start) {
		alone, letters := 0, 0
		for len(line) > 0 {
			r, size := utf8.DecodeRune(line)
			if size > 1 {
				letters++
			} else if r == utf8.RuneError && line[0] >= 0xc0 && len(line) > 1 && (line[1] == ' ' || line[1]|0x20 >= 'a' && line[1]|0x20 <= 'z') {
				alone++
			}
			line = line[size:]
		}
		if alone > 0 && letters == 0 {
			return true
		}
	}
	return false
}

// mixedLines decodes the lines of a text that are no UTF-8.
type mixedLines struct {
	in   *bufio.Reader
	by   *textEncoding
	rest []byte
	err  error
}

func (m *mixedLines) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.rest, m.err = m.in.ReadSlice('\n')
		if errors.Is(m.err, bufio.ErrBufferFull) { // a part of a long line
			m.err = nil
		}
		if !utf8.Valid(m.rest) {
			m.rest = []byte(decoded(*m.by, m.rest))
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// textEncodings are those that spreadsheets write where UTF-8 is not asked for.
func textEncodings() []textEncoding {
	return []textEncoding{
		{"Windows-1252", charmap.Windows1252},
		{"GB 18030", simplifiedchinese.GB18030},
		{"Shift JIS", japanese.ShiftJIS},
		{"EUC-KR", korean.EUCKR},
		{"Big5", traditionalchinese.Big5},
		{"Windows-1250", charmap.Windows1250},
		{"Windows-1251", charmap.Windows1251},
		{"Windows-1254", charmap.Windows1254},
		{"Windows-1253", charmap.Windows1253},
		{"Windows-1255", charmap.Windows1255},
		{"Windows-1256", charmap.Windows1256},
		{"Mac Roman", charmap.Macintosh},
	}
}

// encodingOf is the encoding in which the most names of columns are known; nil if none is.
// Without a name in other letters it is Windows-1252, if that makes words of the text.
func (r *tables) encodingOf(start []byte, whole bool) (found *textEncoding) {
	const enough = 64 << 10
	start, whole = start[:min(len(start), enough)], whole && len(start) <= enough
	var odd []byte
	for line := range bytes.Lines(start) {
		if !utf8.Valid(line) {
			odd = append(odd, line...)
		}
	}
	best := -1
	for _, by := range textEncodings() {
		text, err := io.ReadAll(by.reader(bufio.NewReaderSize(bytes.NewReader(start), len(start))))
		western := by.Encoding == charmap.Windows1252
		if err != nil || western && (!western1252(odd) || otherEncoding(decoded(by, odd))) {
			continue
		}
		_, header, _ := r.layout(text, whole, 0, "", nil)
		if header == nil || !western && !slices.ContainsFunc(header.names, r.foreign) {
			continue
		}
		if header.score > best {
			best, found = header.score, &by
		}
	}
	return found
}

// decoded is text in an encoding with one byte a letter, in which nothing can be broken.
func decoded(by textEncoding, odd []byte) string {
	text, _ := by.NewDecoder().Bytes(odd)
	return string(text)
}

// foreign reports a known name in letters beyond ASCII.
func (r *tables) foreign(name string) bool {
	_, known := r.words().of(name)
	return known && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// lineFeeds makes line feeds of carriage returns.
type lineFeeds struct{ in io.Reader }

func (l *lineFeeds) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// validText reports UTF-8; the sample may end in the middle of a character. A few broken
// characters among valid ones are damage, and no other encoding.
func validText(start []byte, whole bool) bool {
	if !whole {
		for cut := 1; cut < utf8.UTFMax && cut <= len(start); cut++ {
			if utf8.RuneStart(start[len(start)-cut]) {
				if !utf8.FullRune(start[len(start)-cut:]) {
					start = start[:len(start)-cut]
				}
				break
			}
		}
	}
	if utf8.Valid(start) {
		return true
	}
	good, bad := 0, 0
	for len(start) > 0 {
		r, size := utf8.DecodeRune(start)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		start = start[size:]
	}
	return good > bad
}

// western1252 reports text whose letters are mostly ASCII, so that the others may be those of
// Windows-1252.
func western1252(start []byte) bool {
	high, letters, runs := 0, 0, 0
	for i, c := range start {
		switch {
		case c >= 0x80:
			high++
			if i > 1 && start[i-1] >= 0x80 && start[i-2] >= 0x80 {
				runs++
			}
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case c == 0:
			return false
		}
	}
	return 3*high < letters+high && 10*runs < high+10
}

// otherEncoding reports text in which signs stand between letters, as if the text of another
// Windows encoding, such as those of Poland or Turkey, was read as Windows-1252.
func otherEncoding(text string) bool {
	const signs = "³¹¿£¥¯¼¾ðþýÐÞÝ"
	before, inside := ' ', 0
	for i, r := range text {
		if strings.ContainsRune(signs, r) && i > 0 {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if unicode.IsLetter(before) || unicode.IsLetter(next) {
				inside++
			}
		}
		before = r
	}
	return inside >= 2
}

// headerRow is the header of a table.
type headerRow struct {
	names []string
	// row is its place among the rows, from 0, and line its line, from 1.
	row, line int
	// score is how well it was recognised.
	score int
	// note is what the rows above say of all numbers; empty if they say nothing.
	note string
}

// scaleNote says that all numbers of a table are in thousands or millions.
var scaleNote = lazy.Pattern(`(?i)\b(figures|numbers|values|counts|views|metrics|data|all|alle|angaben|zahlen|cifras|chiffres)\b.*\bin (thousands|millions|000s?|tausend|tsd|mio|millionen)\b|\b(cifras en|chiffres en|valores em) (miles|millones|milliers|millions|milhares|milhões)\b|\((in )?(thousands|millions|000s)\)`)

// maxColumns is how many columns a table may have.
const maxColumns = 5000

func (h *headerRow) valid() error {
	if len(h.names) > maxColumns {
		return fmt.Errorf("%d columns: at most %d are read", len(h.names), maxColumns)
	}
	if h.note != "" {
		return fmt.Errorf("%.60q above the header: name each such column so, as Views (thousands), and take the note away", h.note)
	}
	values, videos := 0, 0
	for _, name := range h.names {
		if readLink(name).kind != noLink || allDigits(name) && len(name) != 4 {
			values++
		}
		if idForm(name) == "tiktok" || readLink(name).kind == videoLink {
			videos++
		}
	}
	if videos > 0 && h.score < 20 || values > 0 && 2*values >= len(h.names) {
		return errors.New("the first row has values, not names of columns: add a row of names above it")
	}
	return nil
}

// layout finds the delimiter, the header and the rows of the sample below it. Of several
// delimiters, the one whose header is understood best is taken. A given one is kept.
func (r *tables) layout(start []byte, whole bool, given byte, name string, m *Map) (comma byte, header *headerRow, sample [][]string) {
	candidates := delimiters
	switch {
	case given != 0:
		candidates = string(given)
	case strings.HasSuffix(strings.TrimSuffix(strings.ToLower(path.Base(name)), ".gz"), ".tsv"):
		candidates = "\t,;|"
	}
	for i := range len(candidates) {
		rows, lines := sampleRows(start, candidates[i], whole)
		if m == nil && r.onlyLinks(rows) {
			return candidates[i], &headerRow{names: []string{"link"}, row: -1}, rows
		}
		found := r.header(rows, lines, m)
		if found != nil && (header == nil || found.score > header.score) {
			comma, header, sample = candidates[i], found, rows[found.row+1:]
		}
	}
	return comma, header, sample
}

// onlyLinks reports rows of one cell each, most of them the address of a video, and no name above them.
func (r *tables) onlyLinks(rows [][]string) bool {
	links := 0
	for _, row := range rows {
		if len(row) != 1 {
			return false
		}
		if readLink(row[0]).kind != videoLink {
			continue
		}
		if links++; strings.ContainsAny(row[0], delimiters) {
			return false
		}
	}
	return 2*links > len(rows) && r.knownNames(trimmed(rows[0]), nil) == 0
}

// sampleRows are the rows in the sample of a table, and their lines.
func sampleRows(start []byte, comma byte, whole bool) (all [][]string, lines []int) {
	rows := newRows(bytes.NewReader(start), comma, LineLimit)
	rows.blanks = blanksBefore(start, comma)
	for len(all) < maxSampleRows+maxHeader {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			if !whole && len(all) > 1 {
				all, lines = all[:len(all)-1], lines[:len(lines)-1] // it may be cut off
			}
			break
		}
		if err != nil && !isFieldError(err) {
			break
		}
		texts := make([]string, len(row))
		for i, cell := range row {
			texts[i] = cleanText(string(cell))
		}
		all, lines = append(all, texts), append(lines, rows.line)
	}
	return all, lines
}

// header finds the row of names: the one with the most known ones, as long as the rows below.
func (r *tables) header(rows [][]string, lines []int, m *Map) *headerRow {
	if len(rows) == 0 {
		return nil
	}
	widths := map[int]int{}
	for _, row := range rows {
		widths[len(row)]++
	}
	var best *headerRow
	for i, row := range rows[:min(len(rows), maxHeader)] {
		h := &headerRow{names: trimmed(row), row: i, line: lines[i]}
		h.score = r.knownNames(h.names, m)
		if len(row) > 1 {
			h.score += min(9, 10*widths[len(row)]/(len(rows)+1))
		}
		if best == nil || h.score > best.score || best.score < 10 && len(row) > len(best.names) && widths[len(row)] > widths[len(best.names)] {
			best = h
		}
	}
	for _, row := range rows[:best.row] {
		if text := strings.TrimSpace(strings.Join(row, " ")); m == nil && scaleNote().MatchString(text) {
			best.note = text
		}
	}
	return best
}

func trimmed(row []string) []string {
	out := make([]string, len(row))
	for i, name := range row {
		out[i] = strings.TrimSpace(name)
	}
	return out
}

// knownNames scores the names of a row: those of the map, or of the vocabulary.
func (r *tables) knownNames(names []string, m *Map) (score int) {
	if len(names) > maxColumns {
		return 0
	}
	if m != nil {
		for _, columns := range []map[string]string{m.Columns, m.Metadata} {
			for _, column := range columns {
				if slices.Contains(names, column) {
					score += 30
				} else if columnAt(names, column) >= 0 {
					score += 20
				}
			}
		}
		return score
	}
	for _, name := range names {
		if name == "" || len(name) > 100 || readLink(name).kind != noLink {
			continue
		}
		if metricWords[foldName(name)] {
			score += 20
			continue
		}
		switch meaning, ok := r.words().of(name); {
		case ok && meaning.field == meansIgnored:
			score += 10
		case ok:
			score += 20
		}
	}
	return score
}
