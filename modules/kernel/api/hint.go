package api

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// nearest returns the name that a caller most likely meant: one that differs in case or
// separators alone, or in at most a third of its letters. It is empty if none is close.
func nearest(name string, s *shape) string {
	plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if len(plain) > 64 {
		return ""
	}
	best, least := "", len(plain)/3+1
	for _, f := range s.fields {
		if f.rpcOnly {
			continue
		}
		if n := distance(plain, strings.ToLower(f.name)); n < least {
			best, least = f.name, n
		}
	}
	return best
}

// distance is the Levenshtein distance of two short texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// wholeWanted describes the whole numbers that a field takes.
func wholeWanted(fd protoreflect.FieldDescriptor) string {
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Field).(*validate.FieldRules)
	bounds := rules.GetInt32()
	if fd.IsList() {
		bounds = rules.GetRepeated().GetItems().GetInt32()
	}
	if bounds.HasGte() && bounds.HasLte() {
		return fmt.Sprintf("a whole number from %d to %d", bounds.GetGte(), bounds.GetLte())
	}
	return "a whole number of 32 bits"
}

// isTime reports whether a field of a request is a time in Unix milliseconds.
func isTime(fd protoreflect.FieldDescriptor) bool {
	if fd.Kind() != protoreflect.DoubleKind || !strings.HasSuffix(string(fd.Parent().Name()), "Request") {
		return false
	}
	name := string(fd.Name())
	for _, end := range []string{"_after", "_before", "_at", "since", "until"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Seconds of these years are taken for a mistake: as milliseconds they are days of 1970.
const (
	firstSecond = 9e8   // 1998
	lastSecond  = 4.1e9 // 2099
)

// timeOf reads a time: Unix milliseconds, RFC 3339, or a day in UTC. why says what is wrong.
func timeOf(text string) (millis float64, why string) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.UnixMilli()), ""
		}
	}
	if !isPlainNumber(text) {
		return 0, "must be a time: Unix milliseconds as 1752419109000, or RFC 3339 as 2025-07-13T15:05:09Z"
	}
	n, _ := strconv.ParseFloat(text, 64) // of at most 32 digits
	if n >= firstSecond && n <= lastSecond {
		return 0, "must be in milliseconds; these seconds are " + strconv.FormatInt(int64(math.Floor(n*1000)), 10)
	}
	return n, ""
}

// malformedSecret says what is wrong with the form of an API key; it is empty if that can't
// be said.
func malformedSecret(secret string) string {
	switch {
	case strings.ContainsAny(secret, "\"'`“”‘’"):
		return "The API key is in quotation marks. Send it without them."
	case strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r == 0xA0 }):
		return "The API key has a space or a line end in it. Send the key alone."
	case strings.HasPrefix(strings.ToLower(secret), "bearer"):
		return "The word Bearer is there twice. Send `Authorization: Bearer <API key>`."
	case strings.HasPrefix(secret, "$") || strings.HasPrefix(secret, "<"):
		return "The API key is a placeholder. Put your key in its place."
	}
	return ""
}

// formData reports bodies that curl and browsers send if no other type is asked for.
func formData(contentType string) bool {
	return strings.HasPrefix(contentType, "application/x-www-form-urlencoded") || strings.HasPrefix(contentType, "multipart/form-data")
}

// beginsWithMark reports the byte order mark of UTF-8, which some editors and spreadsheets write.
func beginsWithMark(text []byte) bool { return bytes.HasPrefix(text, []byte("\uFEFF")) }
