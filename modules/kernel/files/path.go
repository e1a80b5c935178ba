package files

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a path, in bytes.
const (
	maxSegment = 255
	maxPath    = 1024
)

// CheckPath fails unless name is a plain relative path. It refuses the same names on
// every system, so that a sandbox can move from one to another.
func CheckPath(name string) error {
	switch {
	case name == "":
		return refuse(PathField, "a path is needed")
	case !utf8.ValidString(name):
		return refuse(PathField, "a path is UTF-8 text")
	case len(name) > maxPath:
		return refuse(PathField, "a path has at most %d bytes", maxPath)
	case strings.HasPrefix(name, "/"):
		return refuse(PathField, "a path is relative: it does not begin with /")
	case strings.ContainsAny(name, `\:`):
		return refuse(PathField, `a path has neither \ nor :`)
	}
	for _, r := range name {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return refuse(PathField, "a path has no control characters")
		}
	}
	for segment := range strings.SplitSeq(name, "/") {
		if err := checkSegment(segment); err != nil {
			return err
		}
	}
	return nil
}

func checkSegment(segment string) error {
	switch {
	case segment == "":
		return refuse(PathField, "a path has no empty parts")
	case segment == "." || segment == "..":
		return refuse(PathField, "a path has no parts . and ..")
	case len(segment) > maxSegment:
		return refuse(PathField, "a part of a path has at most %d bytes", maxSegment)
	case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " "):
		return refuse(PathField, "a part of a path does not end with a dot or a space")
	case device(segment):
		return refuse(PathField, "%q is the name of a device", segment)
	}
	return nil
}

// device reports whether a name, without its extension, is a device on some system.
func device(segment string) bool {
	name, _, _ := strings.Cut(segment, ".")
	name = strings.ToUpper(strings.TrimRight(name, " "))
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, found := strings.CutPrefix(name, "COM")
	if !found {
		number, found = strings.CutPrefix(name, "LPT")
	}
	// Windows counts the superscript digits as digits.
	return found && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}
