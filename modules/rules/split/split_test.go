package split_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollery/scrollery/modules/rules/split"
)

func TestRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":            {"", nil},
		"white space":        {" \t\r\n \n", nil},
		"one line":           {"Only English", []string{"Only English"}},
		"lines":              {"Only English\nNo politics", []string{"Only English", "No politics"}},
		"empty lines":        {"\n\nOnly English\n\n\nNo politics\n", []string{"Only English", "No politics"}},
		"CRLF and CR":        {"One\r\nTwo\rThree\r\n", []string{"One", "Two", "Three"}},
		"line separators":    {"One\u2028Two\u2029Three", []string{"One", "Two", "Three"}},
		"white space around": {"  One \t\n\u00a0Two\u3000", []string{"One", "Two"}},
		"twice":              {"One\nTwo\nOne\n- One", []string{"One", "Two"}},
		"case counts":        {"One\none", []string{"One", "one"}},
		"bullets":            {"- One\n* Two\n+ Three\n• Four\n•Five\n– Six\n— Seven\n◦ Eight", []string{"One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"}},
		"not bullets":        {"-5 is too low\n*bold* text\n+1 only\n-", []string{"-5 is too low", "*bold* text", "+1 only"}},
		"nested":             {"- One\n  - Two\n    * Three\n\t- Four", []string{"One", "Two", "Three", "Four"}},
		"numbers":            {"1. One\n2) Two\n(3) Three\n10. Ten\n1.1. Deep\n1.2.3. Deeper\n1.4) Mixed\na) Letter", []string{"One", "Two", "Three", "Ten", "Deep", "Deeper", "Mixed", "Letter"}},
		"not numbers":        {"1.5 million views\n3 seconds\n2024. A year\n1.One\n10,000 views\n(5 views)\nA. Smith", []string{"1.5 million views", "3 seconds", "2024. A year", "1.One", "10,000 views", "(5 views)", "A. Smith"}},
		"boxes":              {"- [ ] One\n- [x] Two\n[X] Three\n[tag] Four", []string{"One", "Two", "Three", "[tag] Four"}},
		"stacked marks":      {"- 1. One\n• - Two", []string{"One", "Two"}},
		"rulers":             {"One\n---\nTwo\n***\n• \n===\n...\nThree", []string{"One", "Two", "Three"}},
		"symbols":            {"🔥\n€", []string{"🔥", "€"}},
		"hashtags":           {"#fyp is noise\n- #ads", []string{"#fyp is noise", "#ads"}},
		"bullet sentences":   {"- One. Still one.\n- Two! Still two?", []string{"One. Still one.", "Two! Still two?"}},
		"lone bullet":        {"- One. Still one.", []string{"One. Still one."}},
		"line sentences":     {"One. Still one.\nTwo.", []string{"One. Still one.", "Two."}},
		"prose":              {"Only English. No politics! Really? Yes.", []string{"Only English.", "No politics!", "Really?", "Yes."}},
		"prose, small":       {"only english. no politics. ok", []string{"only english.", "no politics.", "ok"}},
		"two paragraphs":     {"Only English. No politics.\n\nAt least 1.5k views. No ads.", []string{"Only English.", "No politics.", "At least 1.5k views.", "No ads."}},
		"decimals":           {"Over 1.5 million views. Under 3.25 minutes.", []string{"Over 1.5 million views.", "Under 3.25 minutes."}},
		"addresses":          {"See https://example.com/a.html?x=1.5. Skip example.com!", []string{"See https://example.com/a.html?x=1.5.", "Skip example.com!"}},
		"abbreviations":      {"Skip drama, e.g. Gossip, i.e. talk vs. facts. Keep Dr. Who. Skip ads, etc. Keep the rest, approx. 5 etc. and so on.", []string{"Skip drama, e.g. Gossip, i.e. talk vs. facts.", "Keep Dr. Who.", "Skip ads, etc.", "Keep the rest, approx. 5 etc. and so on."}},
		"in brackets":        {"Skip drama (e.g. gossip). Keep news (all of it.) Done.", []string{"Skip drama (e.g. gossip).", "Keep news (all of it.)", "Done."}},
		"initials":           {"Only J. Smith. Not K.", []string{"Only J. Smith.", "Not K."}},
		"numbers named":      {"Keep No. 5 alone. Is it so? No. Never.", []string{"Keep No. 5 alone.", "Is it so?", "No.", "Never."}},
		"ellipses":           {"Well... maybe not. Wait… Then go… on.", []string{"Well... maybe not.", "Wait…", "Then go… on."}},
		"quotes":             {`Skip "Buy now!" Keep “Hello.” Done.`, []string{`Skip "Buy now!"`, "Keep “Hello.”", "Done."}},
		"runs of stops":      {"Never!!! Really?! Yes.", []string{"Never!!!", "Really?!", "Yes."}},
		"CJK":                {"英語のみ。政治なし！はい？ok", []string{"英語のみ。", "政治なし！", "はい？", "ok"}},
		"twice in prose":     {"No ads. No ads. Only news.", []string{"No ads.", "Only news."}},
		"no stop":            {"no ads, no politics", []string{"no ads, no politics"}},
		"stops alone":        {"... !!! ?", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, split.Rules(c.text), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Rules(%q), want - got +:\n%s", c.text, diff)
			}
		})
	}
}

// FuzzSplit checks that items are pieces of the text, in its order, each once and
// trimmed, and that no word is lost.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "- a\n- b", "1. a\n2) b", "A. B c. D!", "e.g. this. That…", "（。）", "[ ] x", "(3) y", "\r\n•", "1.1.1.1.1. x", "- \u2028 - é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip() // the API refuses it
		}
		items := split.Rules(text)
		seen, had, rest := map[string]bool{}, map[string]bool{}, text
		for _, item := range items {
			_, after, found := strings.Cut(rest, item)
			if item == "" || item != strings.TrimSpace(item) || strings.ContainsAny(item, "\n\r") || !found || seen[item] {
				t.Fatalf("Rules(%q): got %q, want each item once, trimmed, on one line and as in the text", text, item)
			}
			seen[item], rest = true, after
			for _, word := range words(item) {
				had[word] = true
			}
		}
		for _, word := range words(text) {
			if len(word) > 1 && !had[word] {
				t.Fatalf("Rules(%q): got %q, want the word %q in them", text, items, word)
			}
		}
	})
}

// words are the runs of letters. With them a text is checked in one pass: a search
// of the whole text for each word made long inputs take seconds.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}

// TestSplitIsLinear takes texts far beyond the bound of rules in shapes that make
// every search go furthest. Other processes add nothing to its processor time.
func TestSplitIsLinear(t *testing.T) {
	for _, piece := range []string{"a ", "a. ", "e.g. ", "1.1.", "- ", "x.\n", "! ", "(", "。", "A\n\n", "…a ", ".\" ", "[ ] ", "\u3000", "a"} {
		t.Run(fmt.Sprintf("%q", piece), func(t *testing.T) {
			text := strings.Repeat(piece, 1<<20/len(piece))
			start := used(t)
			split.Rules(text)
			if took := used(t) - start; took > 2500*time.Millisecond {
				t.Errorf("1 MiB of %q took %v, want at most %v", piece, took, 2500*time.Millisecond)
			}
		})
	}
}

func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
