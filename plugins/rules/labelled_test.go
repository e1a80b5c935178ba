package rules

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// floor is what precision and recall have to reach.
const floor = 0.8

// labels are a ruleset and what a person says of captions under it.
type labels struct {
	rules      []stage.Rule
	expressive map[string]bool
	// broken holds the names of the rules that a caption breaks, by its file and id.
	broken map[[2]string][]string
}

func readLabels(t *testing.T, path string) labels {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := labels{expressive: map[string]bool{}, broken: map[[2]string][]string{}}
	file := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		first, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || first == "#":
		case first == "file":
			file = rest
		case first == "rule":
			name, text, _ := strings.Cut(rest[2:], ": ")
			l.rules = append(l.rules, stage.Rule{ID: name, Text: text})
			l.expressive[name] = rest[0] == '+'
		default:
			if rest == "keep" {
				rest = ""
			}
			l.broken[[2]string{file, first}] = strings.Fields(rest)
		}
	}
	return l
}

// captions reads the videos of one file of the shared data, by their ids.
func captions(t *testing.T, name string) map[string]stage.Record {
	t.Helper()
	file, err := os.Open(filepath.Join(sharedData(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := map[string]stage.Record{}
	add := func(platform, property, id, text string) {
		metadata, err := json.Marshal(map[string]string{property: text})
		if err != nil {
			t.Fatal(err)
		}
		out[id] = stage.Record{Ref: stage.Ref{Platform: platform, ExternalID: id}, Metadata: metadata}
	}
	if strings.HasSuffix(name, ".jsonl.gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row struct{ ID, Text string }
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			add("tiktok", "caption", row.ID, row.Text)
		}
		return out
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	id, text := slices.Index(rows[0], "video_id"), slices.Index(rows[0], "beskrivelse")
	platform, property := "tiktok", "caption"
	if text < 0 {
		text, platform, property = slices.Index(rows[0], "title"), "youtube", "title"
	}
	for _, row := range rows[1:] {
		add(platform, property, row[id], row[text])
	}
	return out
}

func sharedData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the shared captions are not on this machine: set SCROLLERY_TEST_DATA")
	}
	return dir
}

// tallied counts drops that are right, drops that are not, and those that are missing.
type tallied struct{ right, wrong, missing int }

func (c *tallied) count(dropped, broken bool) {
	switch {
	case dropped && broken:
		c.right++
	case dropped:
		c.wrong++
	case broken:
		c.missing++
	}
}

func (c tallied) precision() float64 { return float64(c.right) / float64(max(1, c.right+c.wrong)) }
func (c tallied) recall() float64    { return float64(c.right) / float64(max(1, c.right+c.missing)) }

func (c tallied) String() string {
	return fmt.Sprintf("precision %.2f, recall %.2f (%d right, %d wrong, %d missing)", c.precision(), c.recall(), c.right, c.wrong, c.missing)
}

// TestLabelledCaptions holds the compiled rules against what a person said of 200
// real captions: each rule by itself, then the ruleset as a whole.
func TestLabelledCaptions(t *testing.T) {
	t.Parallel()
	l := readLabels(t, filepath.Join("testdata", "labels.txt"))
	if len(l.broken) != 200 {
		t.Fatalf("%d labelled captions, want 200", len(l.broken))
	}
	files := map[string]map[string]stage.Record{}
	alone := map[string]*Program{}
	for _, rule := range l.rules {
		alone[rule.ID] = Compile(stage.Run{Now: noon.UnixMilli(), Rules: []stage.Rule{rule}})
		if len(alone[rule.ID].Unclear) > 0 {
			t.Errorf("%q is not understood, want none", rule.Text)
		}
	}
	together := Compile(stage.Run{Now: noon.UnixMilli(), Rules: l.rules})
	counts := map[string]*tallied{}
	var all, expressive tallied
	for key, broken := range l.broken {
		if files[key[0]] == nil {
			files[key[0]] = captions(t, key[0])
		}
		rec, ok := files[key[0]][key[1]]
		if !ok {
			t.Fatalf("%s has no video %s, want one", key[0], key[1])
		}
		said, want := false, false
		for _, rule := range l.rules {
			dropped, broken := alone[rule.ID].Judge(rec, noon).DroppedBy != "", slices.Contains(broken, rule.ID)
			if counts[rule.ID] == nil {
				counts[rule.ID] = &tallied{}
			}
			counts[rule.ID].count(dropped, broken)
			if l.expressive[rule.ID] {
				said, want = said || dropped, want || broken
			}
			if dropped != broken && testing.Verbose() {
				t.Logf("%s %s: %s: dropped %v, want %v", key[0], key[1], rule.ID, dropped, broken)
			}
		}
		expressive.count(said, want)
		all.count(together.Judge(rec, noon).DroppedBy != "", len(broken) > 0)
	}
	held := func(name string, c tallied, gated bool) {
		t.Logf("%-12s %v", name, c)
		if gated && (c.precision() < floor || c.recall() < floor) {
			t.Errorf("%s: %v, want %.1f each", name, c, floor)
		}
	}
	for _, rule := range l.rules {
		held(rule.ID, *counts[rule.ID], l.expressive[rule.ID])
	}
	held("expressible", expressive, true)
	held("all rules", all, true)
}
