package account

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"time"
)

// twinMost is how many bytes of a compressed table are held in memory.
const twinMost = 2 << 20

// twin is the CSV twin of a file, held compressed while that file is written, so that both
// have the same rows and these are read once. It is used for one table after another.
type twin struct {
	// most is how many bytes are held: a larger table is given up.
	most     int
	compress zip.Compressor
	held     bytes.Buffer
	zip      *zip.Writer
	file     *counted
	table    *csv.Writer
	cells    []string
	over     bool
}

func (t *twin) begin(name string, at time.Time, columns []column) (err error) {
	t.held.Reset()
	t.over = false
	t.zip = zip.NewWriter(&t.held)
	t.zip.RegisterCompressor(zip.Deflate, t.compress)
	if t.file, err = create(t.zip, name, at); err != nil {
		return err
	}
	t.table = csv.NewWriter(t.file)
	return t.table.Write(columns)
}

// add appends a row, unless the table is given up.
func (t *twin) add(values []any) error {
	if t.over = t.over || t.held.Len() > t.most; t.over {
		return nil
	}
	t.file.rows++
	t.cells = appendCells(t.cells[:0], values)
	return t.table.Write(t.cells)
}

// copyTo copies the table as it is compressed. held is false where it was given up.
func (t *twin) copyTo(out *zip.Writer) (held bool, err error) {
	if t.over {
		return false, nil
	}
	if t.table.Flush(); t.table.Error() != nil {
		return false, t.table.Error()
	}
	if err := t.zip.Close(); err != nil {
		return false, err
	}
	reader, err := zip.NewReader(bytes.NewReader(t.held.Bytes()), int64(t.held.Len()))
	if err != nil {
		return false, fmt.Errorf("read %s again: %w", t.file.name, err)
	}
	return true, out.Copy(reader.File[0])
}

func appendCells(cells []string, values []any) []string {
	for _, value := range values {
		cells = append(cells, cell(value))
	}
	return cells
}
