package formats

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxLong is how many bytes of a table with a row for each count are held, as the counts of a video may stand anywhere.
const maxLong = 16 << 20

// metricWords name the column that says what is counted, and valueWords the one that has the number.
var (
	metricWords = wordSet("metric metrics metricname measure measurename kpi indicator variable stat statistic statistics metrictype counter kennzahl metrik messwert métrica indicador métrique indicateur mesure metrica " +
		"indicatore metriek statistiek metryka wskaźnik metrik gösterge показатель метрика показник метрика 指標 指标 지표 metrik chỉsố mått nøgletal måltal ukazatel mutató")
	valueWords = wordSet("value values count amount number n total result figure metricvalue wert anzahl zahl valor cantidad quantidade número valeur nombre valore numero waarde aantal wartość liczba değer sayı " +
		"значение количество значення кількість 値 数値 数 数值 数量 值 數值 값 수치 nilai jumlah giátrị värde antal værdi verdi hodnota počet érték")
)

// longTable are the columns of a table in which each row is one count of a video.
type longTable struct {
	header        []string
	metric, value int
	// keys say of each other column that it tells the videos apart.
	keys []bool
}

// long finds the columns of a table with a row for each count: one names what is counted, and one has the numbers.
// Nil for any other table.
func (r *tables) long(header []string, sample [][]string) *longTable {
	if len(header) < 3 || len(header) > maxColumns || len(sample) == 0 {
		return nil
	}
	v := r.words()
	u := newUnderstanding(header, v.noTotals(header, sample))
	u.words = v.count
	t := &longTable{header: header, metric: -1, value: -1, keys: make([]bool, len(header))}
	var values, counts []int
	keyed := false
	for i := range u.columns {
		c := &u.columns[i]
		c.look()
		c.meaning, c.known = v.of(c.Name)
		number := len(c.values) > 0 && c.mostly(c.share(u.isCount)) && !c.numbersRows()
		switch {
		case number && c.known && (c.meaning.field == meansPlays || slices.Contains(countFields[:5], c.meaning.field)):
			return nil // it has a column for each count
		case t.metric < 0 && v.namesCounts(c):
			t.metric = i
		case c.mostly(c.links) && c.links > 0, c.known && c.meaning.field == "externalId" && !c.counts() && u.suits("externalId", c):
			t.keys[i], keyed = true, true
		case number && valueWords[foldName(c.Name)]:
			values = append(values, i)
		case number && !c.known:
			counts = append(counts, i)
		}
	}
	if len(values) == 0 {
		values = counts
	}
	if len(values) == 1 {
		t.value = values[0]
	}
	if t.metric < 0 || t.value < 0 || !keyed {
		return nil
	}
	return t
}

// numbersRows reports a column of the numbers of the rows.
func (c *sampleColumn) numbersRows() bool {
	first, err := strconv.Atoi(c.all[0])
	for i, value := range c.all {
		n, bad := strconv.Atoi(value)
		if err != nil || bad != nil || first > 1 || n != first+i {
			return false
		}
	}
	return len(c.all) > 1
}

// namesCounts reports a column of a few words, of which some name counts of videos.
func (v *vocabulary) namesCounts(c *sampleColumn) bool {
	const most = 60
	words, fields := map[string]bool{}, map[string]bool{}
	for _, value := range c.all {
		if words[value] = true; value == "" || len(value) > most || len(words) > most {
			return false
		}
	}
	for word := range words {
		if m, ok := v.of(word); ok && (m.field == meansPlays || slices.Contains(countFields[:5], m.field)) {
			fields[m.field] = true
		}
	}
	return len(fields) > 1 || len(fields) == 1 && metricWords[foldName(c.Name)]
}

// longRows reads a table with a row for each count as one with a row for each video, or for each reading of one.
func (r *tables) longRows(t *longTable, source rowSource) error {
	r.out.report.form("a row for each count: %q names it, and %q has it", t.header[t.metric], t.header[t.value])
	rows, lines, err := r.hold(source, len(t.header))
	if err != nil {
		return err
	}
	wide, err := t.widen(rows, lines)
	if err != nil {
		return err
	}
	laid, err := r.lay(nil, wide.header, wide.rows)
	r.out.report.Map, r.out.report.Proposal = nil, nil // the file has other columns
	var doubts *doubtError
	if errors.As(err, &doubts) {
		return fmt.Errorf("a row for each count: %s: make a row of each video", strings.Join(doubts.u.doubts, "; "))
	}
	if err != nil {
		return err
	}
	if name := laid.severalReadings(wide.rows); name != "" {
		return fmt.Errorf("a row for each count: %.60q has several of the same count, which may be parts of it: make a row of each video", name)
	}
	return r.tableRows(laid, wide)
}

// hold takes the rows of a table.
func (r *tables) hold(source rowSource, width int) (rows [][]string, lines []int, err error) {
	held := 0
	for {
		row, err := source.next()
		for _, line := range source.lost() {
			r.out.skip(TooLong, line, "a row of more than the limit, or a quote that is never closed")
		}
		var bad *fieldError
		switch {
		case errors.Is(err, io.EOF):
			return rows, lines, nil
		case errors.As(err, &bad):
			r.out.skip(Malformed, source.at(), err.Error())
			continue
		case err != nil:
			return nil, nil, err
		}
		for len(row) > width && len(row[len(row)-1]) == 0 {
			row = row[:len(row)-1]
		}
		if len(row) != width {
			r.out.skip(Malformed, source.at(), fmt.Sprintf("%d fields under %d columns", len(row), width))
			continue
		}
		texts := make([]string, width)
		for i, cell := range row {
			texts[i] = strings.TrimSpace(cleanText(string(cell)))
			held += len(texts[i]) + 16
		}
		if held > maxLong {
			return nil, nil, fmt.Errorf("a row for each count, and more than %d MiB of them: make a row of each video", maxLong>>20)
		}
		rows, lines = append(rows, texts), append(lines, source.at())
	}
}

// wideTable is such a table with a column for each count.
type wideTable struct {
	header []string
	rows   [][]string
	lines  []int
	n      int
}

// widen makes a row of the rows of each video, and of each reading of it. Columns that say something of a count alone
// tell no videos apart, nor do those without which no count comes twice.
func (t *longTable) widen(rows [][]string, lines []int) (*wideTable, error) {
	var others []int
	for i := range t.header {
		if i != t.metric && i != t.value {
			others = append(others, i)
		}
	}
	split := slices.DeleteFunc(slices.Clone(others), func(i int) bool { return !t.keys[i] && (t.ofCount(rows, i) || t.ofRow(rows, i)) })
	twice := t.twice(rows, split)
	for _, i := range slices.Backward(slices.Clone(split)) {
		without := slices.DeleteFunc(slices.Clone(split), func(j int) bool { return j == i })
		if !t.keys[i] && t.twice(rows, without) == "" {
			split = without
		}
	}
	if twice != "" {
		return nil, fmt.Errorf("a row for each count, and two rows with other numbers for %q of the same video: make a row of each video", twice)
	}
	wide, at, counts := &wideTable{}, map[string]int{}, map[string]int{}
	for _, i := range others {
		wide.header = append(wide.header, t.header[i])
	}
	for n, row := range rows {
		count := foldName(row[t.metric])
		column, ok := counts[count]
		if !ok {
			if column = len(wide.header); column == maxColumns {
				return nil, fmt.Errorf("a row for each count, and more than %d names of counts", maxColumns-len(others))
			}
			counts[count], wide.header = column, append(wide.header, row[t.metric])
		}
		key := keyOf(row, split)
		in, ok := at[key]
		if !ok {
			in = len(wide.rows)
			var cells []string
			for _, i := range others {
				cells = append(cells, row[i])
			}
			at[key], wide.rows, wide.lines = in, append(wide.rows, cells), append(wide.lines, lines[n])
		}
		cells := wide.rows[in]
		for len(cells) <= column {
			cells = append(cells, "")
		}
		cells[column], wide.rows[in] = row[t.value], cells
	}
	if len(wide.rows) == len(rows) && len(counts) > 1 && t.twice(rows, nil) != "" {
		return nil, errors.New("a row for each count, and nothing says which counts belong together: make a row of each video")
	}
	for i, cells := range wide.rows {
		wide.rows[i] = append(cells, make([]string, len(wide.header)-len(cells))...)
	}
	return wide, nil
}

// ofCount reports a column that differs from row to row and is the same for each name of a count, such as a unit.
func (t *longTable) ofCount(rows [][]string, column int) bool {
	same, values := map[string]string{}, map[string]bool{}
	for _, row := range rows {
		had, ok := same[row[t.metric]]
		if ok && had != row[column] {
			return false
		}
		same[row[t.metric]], values[row[column]] = row[column], true
	}
	return len(values) > 1 && len(same) < len(rows)
}

// ofRow reports a column that is a number of its own in each row.
func (t *longTable) ofRow(rows [][]string, column int) bool {
	values := map[string]bool{}
	for _, row := range rows {
		if values[row[column]] || !allDigits(row[column]) || timeLike(row[column], nil) {
			return false
		}
		values[row[column]] = true
	}
	return len(values) > 1
}

// twice is a count that a video has two different numbers for, where some columns tell the rows apart; empty without one.
func (t *longTable) twice(rows [][]string, by []int) string {
	known := map[string]string{}
	for _, row := range rows {
		key := keyOf(row, by) + foldName(row[t.metric])
		if had, ok := known[key]; ok && had != row[t.value] {
			return row[t.metric]
		}
		known[key] = row[t.value]
	}
	return ""
}

// keyOf are some cells of a row in one text.
func keyOf(row []string, columns []int) string {
	var key strings.Builder
	for _, i := range columns {
		key.WriteString(row[i])
		key.WriteByte(0)
	}
	return key.String()
}

// severalReadings is a video that has two rows of the same time; empty if none has.
func (t *rowTable) severalReadings(rows [][]string) string {
	seen := map[string]bool{}
	for _, row := range rows {
		key := t.key(row)
		if at, ok := t.at["observedAt"]; ok {
			key += "\x00" + row[at]
		}
		if seen[key] {
			return t.key(row)
		}
		seen[key] = true
	}
	return ""
}

func (w *wideTable) next() ([][]byte, error) {
	if w.n == len(w.rows) {
		return nil, io.EOF
	}
	var cells [][]byte
	for _, text := range w.rows[w.n] {
		cells = append(cells, []byte(text))
	}
	w.n++
	return cells, nil
}

func (w *wideTable) at() int { return w.lines[w.n-1] }

func (w *wideTable) lost() []int { return nil }
