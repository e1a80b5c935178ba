package formats

import (
	"strconv"
	"strings"
	"time"
)

var isoLayouts = []string{
	time.RFC3339, "2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05",
	"2006-01-02T15:04:05-0700", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04", "2006-01-02T15:04", "20060102",
}

// time is a time of the file in Unix milliseconds; not ok where it is none. dated says
// that it is a date without a time of day.
func (m *Map) time(s string) (ms int64, dated, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false, false
	}
	zone := m.zone
	if zone == nil {
		zone = time.UTC
	}
	for _, layouts := range [][]string{m.TimeLayouts, isoLayouts} {
		for _, layout := range layouts {
			if at, err := time.ParseInLocation(layout, s, zone); err == nil {
				return at.UnixMilli(), !strings.Contains(layout, "15") && !strings.Contains(layout, "3"), at.UnixMilli() >= 0
			}
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0 && n < most) {
		return 0, false, false
	}
	if n < 1e11 {
		n *= 1000
	}
	return int64(n), false, true
}

// parseDuration reads a length in seconds: ISO 8601, h:mm:ss, or a number in the
// unit. Nothing and zero are not known.
func parseDuration(s, unit string) (seconds float64, known bool) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return 0, false
	case s[0] == 'P' || s[0] == 'p':
		seconds, known = isoDuration(strings.ToUpper(s[1:]))
	case strings.Contains(s, ":"):
		seconds, known = clock(s)
	default:
		n, err := strconv.ParseFloat(s, 64)
		seconds, known = n, err == nil
		switch unit {
		case "milliseconds":
			seconds /= 1000
		case "minutes":
			seconds *= 60
		}
	}
	return seconds, known && seconds > 0 && seconds < 1e9
}

func clock(s string) (seconds float64, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, false
	}
	for _, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		seconds = seconds*60 + n
	}
	return seconds, true
}

// isoDuration reads what follows the P; months and years have no fixed length.
func isoDuration(s string) (seconds float64, ok bool) {
	inTime, from := false, 0
	for i, c := range s {
		if (c >= '0' && c <= '9') || c == '.' {
			continue
		}
		if c == 'T' && i == from && !inTime {
			inTime, from = true, i+1
			continue
		}
		n, err := strconv.ParseFloat(s[from:i], 64)
		if err != nil {
			return 0, false
		}
		switch {
		case c == 'W' && !inTime:
			n *= 7 * 24 * 3600
		case c == 'D' && !inTime:
			n *= 24 * 3600
		case c == 'H' && inTime:
			n *= 3600
		case c == 'M' && inTime:
			n *= 60
		case c == 'S' && inTime:
		default:
			return 0, false
		}
		seconds += n
		from = i + 1
	}
	return seconds, from == len(s) && len(s) > 0
}
