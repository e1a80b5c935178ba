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

// basicLayouts are those of ISO 8601 without signs in the date.
var basicLayouts = []string{"20060102T150405Z07:00", "20060102T150405", "20060102T1504", "20060102T150405-0700"}

// isoFor are those of isoLayouts that a text may have. A failed attempt costs as much as all
// else in a row of a table.
func isoFor(s string) []string {
	last := len(isoLayouts) - 1
	switch {
	case len(s) >= len("2006-01-02") && s[4] == '-':
		return isoLayouts[:last]
	case len(s) >= len("20060102T1504") && s[8] == 'T':
		return basicLayouts
	case len(s) == len("20060102"):
		return isoLayouts[last:]
	}
	return nil
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
		if seconds, known = clock(s); unit == shiftedClock {
			seconds /= 60
		}
	default:
		n, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
		if err != nil {
			seconds, known = spokenDuration(s)
			break
		}
		if seconds, known = n*durationUnits[unit], true; unit == "milliseconds" {
			seconds = n / 1000 // n * 1e-3 is not the nearest number
		}
	}
	return seconds, known && seconds > 0 && seconds < 1e9
}

// durationUnits are the units of plain numbers, in seconds. Spreadsheets count in days.
var durationUnits = map[string]float64{"": 1, "seconds": 1, "milliseconds": 1e-3, "minutes": 60, "days": 24 * 3600}

// spokenDuration reads numbers with a unit each: `1h 2m`, `31 sec`.
func spokenDuration(s string) (seconds float64, ok bool) {
	s = strings.ToLower(s)
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, ". ,") {
		end := strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) && r != '.' })
		if end <= 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(s[:end], 64)
		s = strings.TrimSpace(s[end:])
		word := leadingLetters(s)
		s = s[len(word):]
		switch word {
		case "h", "hr", "hrs", "hour", "hours", "std", "stunden", "heures", "horas", "時間", "시간":
			n *= 3600
		case "m", "min", "mins", "minute", "minutes", "minuten", "minutos", "分", "분":
			n *= 60
		case "s", "sec", "secs", "second", "seconds", "sek", "sekunden", "secondes", "segundos", "秒", "초":
		case "ms":
			n /= 1000
		default:
			return 0, false
		}
		if err != nil {
			return 0, false
		}
		seconds += n
	}
	return seconds, true
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
