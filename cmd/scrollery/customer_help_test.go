package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

// shellWords splits an example as a shell does, up to a pipe or a redirection.
func shellWords(line string) (words []string) {
	var word strings.Builder
	var quote rune
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ':
			end()
		case strings.ContainsRune("|<>#", r) && !begun:
			return words
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return words
}

// commandsOf are the customers' commands that do something.
func commandsOf(root *cobra.Command) (all []*cobra.Command) {
	for _, child := range root.Commands() {
		if child.GroupID == customers.Group || root.Parent() != nil {
			if child.HasSubCommands() {
				all = append(all, commandsOf(child)...)
			}
			if !child.HasSubCommands() || child.Example != "" { // a list may have commands beside it
				all = append(all, child)
			}
		}
	}
	return all
}

// TestExamplesAreCommands parses each example of the help and of docs/cli.md.
func TestExamplesAreCommands(t *testing.T) {
	t.Parallel()
	root := newRoot(customers.System(strings.ToUpper))
	var lines []string
	for _, command := range commandsOf(root) {
		if command.Example == "" || command.Long == "" || command.Short == "" {
			t.Errorf("%s: got help without an example or a description, want both", command.CommandPath())
		}
		lines = append(lines, strings.Split(command.Example, "\n")...)
	}
	if len(lines) < 50 {
		t.Fatalf("only %d examples, want at least 50", len(lines))
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "    scrollery ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for _, line := range lines {
		at := strings.LastIndex(line, "scrollery ")
		if at < 0 {
			continue
		}
		line = line[at+len("scrollery "):]
		t.Run(line, func(t *testing.T) {
			fresh := newRoot(customers.System(strings.ToUpper))
			fresh.InitDefaultCompletionCmd("completion")
			line, _, _ := strings.Cut(line, ")\"") // of export X="$(scrollery …)"
			command, args, err := fresh.Find(shellWords(line))
			if err != nil || command == fresh {
				t.Fatalf("no command: %v, want no error and command other than %v", err, fresh)
			}
			if err := command.ParseFlags(args); err != nil {
				t.Fatal(err)
			}
			if err := command.ValidateArgs(command.Flags().Args()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManualPagesAndCompletion writes them all.
func TestManualPagesAndCompletion(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, nil)
	dir := filepath.Join(t.TempDir(), "man1")
	c.must(t, exitDone, "man", dir)
	for _, name := range []string{"scrollery.1", "scrollery-outliers.1", "scrollery-scroll-start.1", "scrollery-admin-keys-create.1"} {
		t.Run(name, func(t *testing.T) {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(text), ".nh\n.TH") {
				t.Errorf("%s: want a page that starts with %q; error %v", name, ".nh\n.TH", err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "scrollery-keys.1")); err == nil {
		t.Error("the old form of a command has a page, want an error")
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			if got := c.must(t, exitDone, "completion", shell); len(got.stdout) < 1000 {
				t.Errorf("%s: %d bytes, want at least 1000", shell, len(got.stdout))
			}
		})
	}
	if got := c.must(t, exitDone, "__complete", "scroll", "s"); !strings.Contains(got.stdout, "start\t") || !strings.Contains(got.stdout, "show\t") {
		t.Errorf("completion of scroll s: %s, want stdout with \"start\\t\" and stdout with \"show\\t\"", got.stdout)
	}
	if got := c.must(t, exitDone, "__complete", "outliers", "--kind", ""); !strings.HasPrefix(got.stdout, "own\ncompetitor\nniche\n") {
		t.Errorf("completion of --kind: %s, want starting with %q", got.stdout, "own\ncompetitor\nniche\n")
	}
	if got := c.must(t, exitDone, "--version"); !strings.Contains(got.stdout, "20") || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf(`version: %q, want stdout with "20" and count 1`, got.stdout)
	}
}
