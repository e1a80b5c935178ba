package readerhost

import (
	"fmt"
	"strings"
	"testing"

	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

// TestReportsOfHostileProcesses sends a report of a process that was taken over.
func TestReportsOfHostileProcesses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü\x1b", 10_000)
	hostile := &readerv1.Report{Formats: map[string]int64{}}
	for i := range 10_000 {
		hostile.Formats[fmt.Sprint(i)] = 1
		hostile.Skips = append(hostile.Skips, &readerv1.Skip{Reason: long, Detail: long})
	}
	file := &readerv1.Understanding{File: long, Fields: hostile.Formats, Places: hostile.Formats, Map: strings.Repeat("x", maxMap+1)}
	for range 1000 {
		file.Form = append(file.Form, long)
		file.Columns = append(file.Columns, &readerv1.Column{Name: long, Field: long, Reason: long})
		file.Misread = append(file.Misread, &readerv1.Misread{Column: long, Text: long})
	}
	for range 1000 {
		hostile.Files = append(hostile.Files, file)
	}
	read := decode(hostile)
	columns, bytes := 0, 0
	for _, one := range read.Files {
		columns += len(one.Columns)
		if len(one.Columns)+one.MoreColumns != 1000 || len(one.NotUnderstood) > maxMisread || one.Map != "" {
			t.Errorf("got %d columns and %d more, %d texts and a map of %d bytes; want 1000, at most %d and none", len(one.Columns), one.MoreColumns, len(one.NotUnderstood), len(one.Map), maxMisread)
		}
		for _, column := range one.Columns {
			bytes = max(bytes, len(column.Name))
		}
		if strings.Contains(one.Name, "\x1b") {
			t.Errorf("got the name %q, want no control sequence", one.Name)
		}
	}
	if len(read.Files) != maxFiles || len(read.Skips) != maxSkips || len(read.Formats) != maxSkips || columns > maxAll || bytes > 5*maxText {
		t.Errorf("got %d files, %d skips, %d formats and %d columns of up to %d bytes", len(read.Files), len(read.Skips), len(read.Formats), columns, bytes)
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"Mes vidéos TikTok.CSV": "file_mes_vid_os_tiktok.csv",
		"a.jsonl.gz":            "file_a.jsonl.gz",
		"../../etc/passwd":      "file_______etc_passwd",
		"":                      "file_",
		".map.json":             "file_.map.json",
	} {
		if got := fileName(sent); got != want {
			t.Errorf("%q: got %q, want %q", sent, got, want)
		}
	}
	if got := fileName(strings.Repeat("a", 4000) + ".csv"); len(got) > 100 {
		t.Errorf("got a name of %d characters, want at most 100", len(got))
	}
}
