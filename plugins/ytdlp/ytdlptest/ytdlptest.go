// Package ytdlptest has a double of the program yt-dlp, as strict as its pages.
//
// What options there are and which fields a video can have is in options.txt and fields.txt, each
// with the page that it was copied from and its date. The double ends with the program's own words and
// exit code 2 for any other option. The program also takes the beginning of an option's name; the
// double does not.
package ytdlptest

import (
	_ "embed" // the pages
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Version of the pages.
const Version = "2026.08.19"

var (
	//go:embed options.txt
	optionsPage string
	//go:embed fields.txt
	fieldsPage string
)

// lines are those of a page without the head.
func lines(page string) (all []string) {
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// Fields are the fields that a video or an entry of a list can have, sorted.
func Fields() []string { return strings.Fields(strings.Join(lines(fieldsPage), " ")) }

// options are the options, with a `+` behind those that take a value: `--retries +`. Those
// that take several are left out: the client has no use for them.
func options() (all []string) {
	for _, line := range lines(optionsPage) {
		names := strings.Split(line, ", ")
		words := strings.Fields(names[len(names)-1])
		names[len(names)-1] = words[0]
		for _, name := range names {
			if len(words) <= 2 {
				all = append(all, name+" "+strings.Repeat("+", len(words)-1))
			}
		}
	}
	return all
}

// begin refuses what the program refuses. The options are read as it reads them: one by one, up to
// `--` or to the end.
const begin = `#!/bin/sh
here='HERE'
refuse() { printf '\nUsage: yt-dlp [OPTIONS] URL [URL...]\n\nyt-dlp: error: %s\n' "$1" >&2; exit 2; }
accept() {
	urls=0
	while [ $# -gt 0 ]; do
		case "$1" in
		--) shift; urls=$((urls + $#)); break ;;
		-?*)
			name=$1
			grep -q -F -x -e "$name " -e "$name +" "$here/options" || refuse "no such option: $name"
			if grep -q -F -x -e "$name +" "$here/options"; then
				[ $# -gt 1 ] || refuse "$name option requires 1 argument"
				shift
			fi ;;
		*) urls=$((urls + 1)) ;;
		esac
		shift
	done
	[ $urls -gt 0 ] || refuse 'You must provide at least one URL.
Type yt-dlp --help to see a list of all options.'
}
case "$*" in
--version) echo VERSION; exit 0 ;;
--help) cat "$here/help"; exit 0 ;;
esac
(accept "$@") || exit $?
`

// inText finds the members of JSON in a script.
var inText = regexp.MustCompile(`"([A-Za-z_]+)":`)

// Install puts the double at the head of PATH and returns its folder. The script is what it does
// after its arguments were accepted; they are the script's. A field of JSON in the script that is on no
// page fails the test, unless it is among unknown.
func Install(t *testing.T, version, script string, unknown ...string) (folder string) {
	t.Helper()
	known := append(Fields(), unknown...)
	for _, found := range inText.FindAllStringSubmatch(script, -1) {
		if !slices.Contains(known, found[1]) {
			t.Fatalf("the double has the field %q, which is on no page", found[1])
		}
	}
	folder = t.TempDir()
	text := strings.NewReplacer("HERE", folder, "VERSION", version).Replace(begin) + script + "\n"
	for name, content := range map[string]string{
		"yt-dlp": text, "options": strings.Join(options(), "\n") + "\n", "help": strings.Join(lines(optionsPage), "\n") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	return folder
}
