package rest

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

// numberWanted describes the numbers that a field takes.
func numberWanted(fd protoreflect.FieldDescriptor) string {
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Field).(*validate.FieldRules)
	bounds := rules.GetDouble()
	if isTime(fd) {
		return wantedTime
	}
	if bounds.HasGte() && bounds.HasLte() {
		return "a number from " + strconv.FormatFloat(bounds.GetGte(), 'f', -1, 64) + " to " + strconv.FormatFloat(bounds.GetLte(), 'f', -1, 64)
	}
	return "a number"
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

// timeOf reads a time: Unix milliseconds, RFC 3339, or a day in UTC. ok is false for others.
func timeOf(text string) (millis float64, ok bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.UnixMilli()), true
		}
	}
	if !isPlainNumber(text) {
		return 0, false
	}
	n, _ := strconv.ParseFloat(text, 64) // of at most 32 digits
	return n, true
}

const wantedTime = "a time: Unix milliseconds as 1752419109000, or RFC 3339 as 2025-07-13T15:05:09Z"

// TimesOf are the times of a request.
func TimesOf(desc protoreflect.MessageDescriptor) (times []protoreflect.FieldDescriptor) {
	for i := range desc.Fields().Len() {
		if fd := desc.Fields().Get(i); isTime(fd) {
			times = append(times, fd)
		}
	}
	return times
}

// CheckTimes reports times that are seconds by mistake.
func CheckTimes(s *Issues, times []protoreflect.FieldDescriptor, message protoreflect.Message) {
	for _, fd := range times {
		if n := message.Get(fd).Float(); n >= firstSecond && n <= lastSecond {
			s.Add(fd.JSONName(), "must be in milliseconds; these seconds are %d", int64(math.Floor(n*1000)))
		}
	}
}

// formData reports bodies that curl and browsers send if no other type is asked for.
func formData(contentType string) bool {
	return strings.HasPrefix(contentType, "application/x-www-form-urlencoded") || strings.HasPrefix(contentType, "multipart/form-data")
}

// beginsWithMark reports the byte order mark of UTF-8, which some editors and spreadsheets write.
func beginsWithMark(text []byte) bool { return bytes.HasPrefix(text, []byte("\uFEFF")) }
