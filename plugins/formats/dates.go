package formats

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// timeStyle is how one column writes its times.
type timeStyle struct {
	layouts []string
	zone    *time.Location
	// order of day, month and year in dates of numbers: "dmy", "mdy", "ymd" or "ydm"; empty if
	// no value of the column shows it.
	order string
	// since1904 says that the days of a spreadsheet count from 1904, as on old Macs.
	since1904 bool
	// languages are those of the column's table.
	languages map[string]bool
	// latest is the latest time that makes sense, in Unix milliseconds; 0 for any.
	latest int64
}

// shownDigits are how many digits and signs a spreadsheet shows of a long number, as 1.75133E+12: hours of
// a time are lost then.
const shownDigits = 7

// stamp is a time that was read.
type stamp struct {
	at int64
	// dated says that it is a date without a time of day.
	dated bool
}

// read reads a time in Unix milliseconds.
func (t *timeStyle) read(s string) (when stamp, ok bool) {
	s = strings.TrimSpace(plainCell(s))
	if s == "" {
		return stamp{}, false
	}
	zone := t.zone
	if zone == nil {
		zone = time.UTC
	}
	for _, layouts := range [][]string{t.layouts, isoFor(s)} {
		for _, layout := range layouts {
			if at, err := time.ParseInLocation(layout, s, zone); err == nil {
				return t.bound(stamp{at.UnixMilli(), !strings.Contains(layout, "15") && !strings.Contains(layout, "3")})
			}
		}
	}
	if parts := calledDate().FindStringSubmatch(s); parts != nil {
		return t.bound(calledTime(parts[1], zone))
	}
	if scientific().MatchString(s) && strings.IndexAny(s, "eE") <= shownDigits {
		return stamp{}, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		if t.since1904 && n < lastSerial {
			n += daysTo1904
		}
		return t.bound(numberedTime(n, s, zone))
	}
	if days, part, cut := strings.Cut(s, ","); cut && len(days) == 5 && allDigits(days) && allDigits(part) { // days of a spreadsheet
		n, _ := strconv.ParseFloat(days+"."+part, 64)
		return t.bound(numberedTime(n, s, zone))
	}
	d, ok := readDate(s)
	if !ok || !d.settle(t.languages) {
		return stamp{}, false
	}
	orders := d.orders()
	switch {
	case len(orders) == 0:
		return stamp{}, false
	case len(orders) > 1:
		for _, order := range orders {
			if order == t.order {
				orders = []string{order}
			}
		}
	}
	if len(orders) > 1 {
		return stamp{}, false
	}
	return t.bound(d.time(orders[0], zone))
}

// calledDate is a date as JavaScript makes it: Date(2025,6,1), in which months count from 0, or
// /Date(1751328000000)/.
var calledDate = lazy.Pattern(`^/?(?:new )?Date\(([\d,; ]{4,40})(?:[+-]\d{4})?\)/?$`)

// calledTime is the time of the numbers of a calledDate.
func calledTime(numbers string, zone *time.Location) stamp {
	parts := strings.FieldsFunc(numbers, func(r rune) bool { return r == ',' || r == ';' })
	n := make([]int, 7)
	for i, part := range parts[:min(len(parts), len(n))] {
		n[i], _ = strconv.Atoi(strings.TrimSpace(part)) // what is none is 0
	}
	if len(parts) == 1 {
		return stamp{at: int64(n[0])}
	}
	if n[1] > 11 || n[2] < 1 || n[2] > 31 {
		return stamp{at: -1}
	}
	return stamp{time.Date(n[0], time.Month(n[1]+1), n[2], n[3], n[4], n[5], n[6]*1e6, zone).UnixMilli(), len(parts) <= 3}
}

// earliest is the year 2000, before which none of the platforms was.
const earliest = 946_684_800_000

// bound refuses times before the platforms and after the latest.
func (t *timeStyle) bound(w stamp) (stamp, bool) {
	return w, w.at >= earliest && w.at < most && (t.latest == 0 || w.at <= t.latest)
}

// Days of spreadsheets that are taken for times, from 1954 to 2119, and those from 1900 to 1904.
const firstSerial, lastSerial, daysTo1904 = 20_000, 80_000, 1462

// numberedTime is a time written as one number: Unix seconds, milliseconds, microseconds or
// nanoseconds, or days as spreadsheets count them.
func numberedTime(n float64, text string, zone *time.Location) stamp {
	switch {
	case !(n > 0):
		return stamp{at: -1}
	case n >= firstSerial && n < lastSerial:
		days := int(n)
		at := time.Date(1899, 12, 30+days, 0, 0, 0, 0, zone).Add(time.Duration((n - float64(days)) * float64(24*time.Hour))).Round(time.Second)
		return stamp{at.UnixMilli(), n == float64(days)}
	case len(text) == 14 && allDigits(text):
		if at, err := time.ParseInLocation("20060102150405", text, zone); err == nil && at.Year() >= 2000 && at.Year() < 2100 {
			return stamp{at: at.UnixMilli()}
		}
		fallthrough
	case n >= 1e11 && n < 1e14:
		return stamp{at: int64(n)}
	case n < 1e11:
		return stamp{at: int64(n * 1000)}
	case n < 1e17:
		return stamp{at: int64(n / 1e3)}
	}
	return stamp{at: int64(n / 1e6)}
}

// date is a date and time taken apart, before it is known which number is the day.
type date struct {
	// numbers are those of the date, as they follow each other; width how many digits they have.
	numbers [3]int
	width   [3]int
	count   int
	// month is that of a name, else 0.
	month int
	// named is that name, folded, and lead says that it stands before all numbers.
	named string
	lead  bool
	// said is the order of the numbers where words beside them say it; empty without such.
	said string
	// dotted and slashed say that points or slashes divide the numbers.
	dotted, slashed      bool
	hour, minute, second int
	nanos                int
	timed, pm, am        bool
	// offset is the zone in seconds, if zoned.
	offset int
	zoned  bool
}

// clockSigns are the times of day of East Asia: 15時05分09秒.
var clockSigns = lazy.Pattern(`(\d{1,2})\s*[時时點시]\s*(\d{1,2})\s*[分분](?:\s*(\d{1,2})\s*[秒초])?`)

// clockWord is a time of day in French with blanks: 14 h 05.
var clockWord = lazy.Pattern(`(\d{1,2}) h (\d{2})\b`)

// thaiMonth are the short names of months in Thai, and thaiMonths the English ones.
var (
	thaiMonth  = lazy.Pattern(`(?:ม|มี|พ|ก|ส|ต|ธ)\.ค\.|(?:เม|มิ|ก|พ)\.ย\.|ก\.พ\.`)
	thaiMonths = map[string]string{
		"ม.ค.": "jan", "ก.พ.": "feb", "มี.ค.": "mar", "เม.ย.": "apr", "พ.ค.": "may", "มิ.ย.": "jun",
		"ก.ค.": "jul", "ส.ค.": "aug", "ก.ย.": "sep", "ต.ค.": "oct", "พ.ย.": "nov", "ธ.ค.": "dec",
	}
)

// readDate takes a date apart; not ok if it is none.
func readDate(s string) (d date, ok bool) {
	if s = plainDigits(s); strings.ContainsAny(s, "時时點시") {
		s = clockSigns().ReplaceAllString(s, "$1:$2:$3 ")
	}
	if strings.Contains(s, ".ค.") || strings.Contains(s, ".ย.") || strings.Contains(s, ".พ.") {
		s = thaiMonth().ReplaceAllStringFunc(s, func(name string) string { return thaiMonths[name] })
	}
	if strings.Contains(s, " h ") {
		s = clockWord().ReplaceAllString(s, "$1:$2")
	}
	if len(s) > 80 {
		return d, false
	}
	for i := 0; i < len(s); {
		r := rune(s[i])
		switch {
		case isDigit(r):
			n := i
			for n < len(s) && isDigit(rune(s[n])) {
				n++
			}
			value, err := strconv.Atoi(s[i:n])
			if err != nil {
				return d, false
			}
			next := byte(0)
			if n < len(s) {
				next = s[n]
			}
			if !d.timed && (next == ':' || (next == 'h' || next == '.') && d.complete()) {
				clock := clockLength(s[i:])
				if !d.clock(s[i : i+clock]) {
					return d, false
				}
				i += clock
				continue
			}
			if d.count == 3 {
				return d, false
			}
			d.numbers[d.count], d.width[d.count] = value, n-i
			d.count++
			d.dotted, d.slashed = d.dotted || next == '.', d.slashed || next == '/'
			i = n
		case (r == '+' || r == '-') && d.timed && !d.zoned:
			length, seconds, ok := zoneOffset(s[i:])
			if !ok {
				return d, false
			}
			d.offset, d.zoned = seconds, true
			i += length
		case r < 0x80 && !unicode.IsLetter(r):
			i++
		default:
			word := leadingLetters(s[i:])
			if word == "" {
				_, size := firstRune(s[i:])
				i += size
				continue
			}
			if !d.word(word) {
				return d, false
			}
			i += len(word)
		}
	}
	return d, d.complete()
}

func firstRune(s string) (r rune, size int) {
	for _, r := range s {
		return r, len(string(r))
	}
	return 0, 1
}

func (d *date) complete() bool {
	return d.count == 3 && d.month == 0 || d.count == 2 && d.month > 0
}

// clockLength is the length of a time of day at the start of s: 15:05, 15:05:09.5, 15h05.
func clockLength(s string) int {
	n := 0
	for n < len(s) && (isDigit(rune(s[n])) || (s[n] == ':' || s[n] == '.' || s[n] == 'h') && n+1 < len(s) && isDigit(rune(s[n+1]))) {
		n++
	}
	return n
}

func (d *date) clock(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == 'h' })
	if len(parts) == 1 {
		parts = strings.Split(s, ".")
	}
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	var err [3]error
	d.hour, err[0] = strconv.Atoi(parts[0])
	d.minute, err[1] = strconv.Atoi(parts[1])
	if len(parts) == 3 {
		var seconds float64
		seconds, err[2] = strconv.ParseFloat(parts[2], 64)
		d.second = int(seconds)
		d.nanos = int((seconds - float64(d.second)) * 1e9)
	}
	d.timed = true
	return err == [3]error{} && d.hour < 24 && d.minute < 60 && d.second < 61
}

// zoneOffset reads +02, +0200 and +02:00.
func zoneOffset(s string) (length, seconds int, ok bool) {
	n := 1
	for n < len(s) && n < 6 && (isDigit(rune(s[n])) || s[n] == ':') {
		n++
	}
	digits := strings.ReplaceAll(s[1:n], ":", "")
	hours, minutes := digits, "0"
	if len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	h, err := strconv.Atoi(hours)
	m, err2 := strconv.Atoi(minutes)
	if err != nil || err2 != nil || h > 14 || m > 59 {
		return 0, 0, false
	}
	seconds = h*3600 + m*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return n, seconds, true
}

// zoneNames are abbreviations with one meaning, in hours from UTC.
var zoneNames = map[string]float64{
	"utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3,
	"jst": 9, "kst": 9, "wib": 7, "aest": 10, "aedt": 11, "brt": -3, "hkt": 8, "sgt": 8, "wet": 0, "west": 1,
}

// monthNames are the starts of months' names, folded.
var monthNames = map[string]int{
	"jan": 1, "ene": 1, "gen": 1, "oca": 1, "sty": 1, "янв": 1, "janv": 1, "led": 1, "feb": 2, "fev": 2, "fevr": 2, "sub": 2, "lut": 2, "фев": 2, "uno": 2,
	"mar": 3, "marr": 11, "maa": 3, "mrt": 3, "marz": 3, "maer": 3, "мар": 3, "bre": 3, "apr": 4, "abr": 4, "avr": 4, "kwi": 4, "nis": 4, "апр": 4, "dub": 4,
	"may": 5, "mai": 5, "mag": 5, "mei": 5, "maj": 5, "мая": 5, "маи": 5, "kve": 5, "jun": 6, "juin": 6, "giu": 6, "haz": 6, "cze": 6, "июн": 6, "jul": 7, "juil": 7, "lug": 7, "tem": 7, "lip": 7, "июл": 7,
	"aug": 8, "ago": 8, "aou": 8, "agu": 8, "sie": 8, "agt": 8, "авг": 8, "srp": 8, "sep": 9, "set": 9, "eyl": 9, "wrz": 9, "сен": 9, "zar": 9,
	// Romanian, Finnish, Hungarian, Croatian, Czech in full, Malay and Filipino.
	"ian": 1, "iun": 6, "iul": 7, "noi": 11, "tam": 1, "hel": 2, "huh": 4, "tou": 5, "kes": 6, "hei": 7, "elo": 8, "syy": 9, "lok": 10, "jou": 12, "szep": 9,
	"sij": 1, "velj": 2, "ozu": 3, "trav": 4, "svi": 5, "kol": 8, "ruj": 9, "stu": 11, "cerven": 6, "cervna": 6, "cervenec": 7, "cervence": 7, "cvn": 6, "cvc": 7, "avg": 8,
	"mac": 3, "ag": 8, "ogos": 8, "dis": 12, "peb": 2, "hun": 6, "hul": 7, "nob": 11,
	// Ukrainian, Bulgarian, Serbian, Greek.
	"січ": 1, "лют": 2, "бер": 3, "кві": 4, "тра": 5, "чер": 6, "лип": 7, "сер": 8, "вер": 9, "жов": 10, "лис": 11, "гру": 12, "яну": 1, "юни": 6, "юли": 7, "сеп": 9, "ное": 11,
	"јан": 1, "феб": 2, "мај": 5, "јун": 6, "јул": 7, "нов": 11, "дец": 12,
	"ιαν": 1, "φεβ": 2, "μαρ": 3, "απρ": 4, "μαι": 5, "ιουν": 6, "ιουλ": 7, "αυγ": 8, "σεπ": 9, "οκτ": 10, "νοε": 11, "δεκ": 12,
	// Arabic, also of Syria and of the Maghreb, Hebrew, Hindi as it is left without its marks.
	"يناي": 1, "فبرا": 2, "مارس": 3, "ابري": 4, "مايو": 5, "يوني": 6, "يولي": 7, "اغسط": 8, "سبتم": 9, "اكتو": 10, "نوفم": 11, "ديسم": 12,
	"شباط": 2, "اذار": 3, "نيسا": 4, "ايار": 5, "حزير": 6, "تموز": 7, "ايلو": 9, "جانف": 1, "فيفر": 2, "افري": 4, "ماي": 5, "جوان": 6, "جويل": 7, "اوت": 8,
	"ינו": 1, "פבר": 2, "מרץ": 3, "מרס": 3, "אפר": 4, "מאי": 5, "יונ": 6, "יול": 7, "אוג": 8, "ספט": 9, "אוק": 10, "נוב": 11, "דצמ": 12,
	"जनव": 1, "फरव": 2, "मारच": 3, "अपर": 4, "मई": 5, "जून": 6, "जला": 7, "अगस": 8, "सित": 9, "अकट": 10, "अकत": 10, "नवब": 11, "दिस": 12,
	"มกรา": 1, "กมภา": 2, "มนาค": 3, "เมษา": 4, "พฤษภ": 5, "มถนา": 6, "กรกฎ": 7, "สงหา": 8, "กนยา": 9, "ตลาค": 10, "พฤศจ": 11, "ธนวา": 12,
	"oct": 10, "okt": 10, "out": 10, "ott": 10, "eki": 10, "paz": 10, "окт": 10, "rij": 10, "nov": 11, "kas": 11, "lis": 11, "ноя": 11, "nop": 11, "dec": 12, "dez": 12, "dic": 12, "des": 12, "ara": 12, "gru": 12, "дек": 12, "pro": 12,
}

// word takes a word of a date: the name of a month, a zone, a half of a day, or a small word.
func (d *date) word(word string) bool {
	name := foldName(word)
	runes := []rune(name)
	switch {
	case (name == "m" || name == "μ") && (d.am || d.pm): // p.m., μ.μ.
		return true
	case forenoon[name] || d.timed && forenoonBehind[name]:
		d.am = true
		return true
	case afternoon[name] || d.timed && afternoonBehind[name]:
		d.pm = true
		return true
	case d.count == 1 && (name == "thang" || name == "thg"):
		d.said = "dmy"
		return true
	case d.count == 1 && (name == "年" || name == "년"):
		d.said = "ymd"
		return true
	case name == "t", name == "年", name == "月", name == "日", name == "년", name == "월", name == "일", name == "時", name == "分":
		return true
	}
	if hours, ok := zoneNames[name]; ok && d.timed {
		if !d.zoned {
			d.offset, d.zoned = int(hours*3600), name != "utc" && name != "gmt"
		}
		d.zoned = d.zoned || name == "z"
		return true
	}
	if smallDateWords[name] || weekdays[name] || dayOfWeek().MatchString(name) {
		return true
	}
	if month := monthOf(word, runes); month > 0 && (d.month == 0 || d.named == "mar" && d.lead) { // mar. 3 déc.: a Tuesday
		d.month, d.named, d.lead = month, name, d.count == 0
		return true
	}
	// A day of the week stands first.
	return d.count == 0 && d.month == 0 && len(runes) >= 2
}

// monthOf is the month of a word and its folded letters; 0 if it names none.
func monthOf(word string, folded []rune) int {
	for _, whole := range []string{word, string(folded)} {
		if month, ok := monthNames[whole]; ok {
			return month
		}
	}
	if len(folded) > 3 && folded[0] == 'ב' { // in, in Hebrew
		if month := monthOf("", folded[1:]); month > 0 {
			return month
		}
	}
	for n := min(4, len(folded)); n >= 3; n-- {
		if month, ok := monthNames[string(folded[:n])]; ok && !weekdays[string(folded[:3])] {
			return month
		}
	}
	return 0
}

// Words for the halves of a day, and those that are such only behind a time of day.
var (
	forenoon        = wordSet("am 上午 午前 오전 早上 凌晨 清晨")
	afternoon       = wordSet("pm 下午 午後 오후 傍晚")
	forenoonBehind  = wordSet("a ص π sa öö")
	afternoonBehind = wordSet("p م μ ch ös")
)

// croatianMonths are the starts of names that Polish and Czech have for the month after, folded.
var croatianMonths = map[string]int{"lip": 6, "srp": 7, "lis": 10}

// settle decides by the languages of the table which month a name means. Without one of them it
// is not ok for a name that may be of two.
func (d *date) settle(languages map[string]bool) (ok bool) {
	if len(d.named) < 3 {
		return true
	}
	month, two := croatianMonths[d.named[:3]]
	switch {
	case !two:
	case languages["hr"], strings.HasPrefix(d.named, "srpa"), strings.HasPrefix(d.named, "srpnj"), strings.HasPrefix(d.named, "lipa"), strings.HasPrefix(d.named, "lipnj"):
		d.month = month
	default:
		return languages["pl"] || languages["cs"] || d.named == "lipca" || d.named == "lipiec" || d.named == "srpna" || d.named == "srpen"
	}
	return true
}

// dayOfWeek are days of the week that may stand behind a date.
var dayOfWeek = lazy.Pattern(`^((sun|mon|tues|wednes|thurs|fri|satur)day|(星期|周|週|礼拜|禮拜).|[日月火水木金土月日]曜日?|[일월화수목금토](요일)?|[火水木金土])$`)

// weekdays are days of the week: their starts in English, and whole names in which the start may be that of a month.
var weekdays = wordSet("mon tue wed thu fri sat sun " +
	"montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lunes martes miércoles jueves viernes sábado domingo " +
	"lundi mardi mercredi jeudi vendredi samedi dimanche lunedì martedì mercoledì giovedì venerdì sabato domenica segunda terça quarta quinta sexta feira " +
	"maandag dinsdag woensdag donderdag vrijdag zaterdag zondag poniedziałek wtorek środa czwartek piątek sobota niedziela pazartesi salı çarşamba perşembe cuma cumartesi pazar pzt sal çar per cum cmt " +
	"senin selasa rabu kamis jumat sabtu minggu понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс нд")

var smallDateWords = map[string]bool{
	"de": true, "del": true, "of": true, "at": true, "a": true, "as": true, "um": true, "uhr": true, "kl": true, "st": true, "nd": true, "rd": true, "th": true, "г": true, "в": true, "h": true, "om": true,
	"the": true, "on": true, "las": true, "ore": true, "alle": true, "o": true, "godz": true, "dan": true, "pukul": true, "den": true, "er": true, "le": true, "el": true,
	"р": true, "ч": true, "r": true, "klo": true, "ngay": true, "nam": true, "น": true, "d": true, "la": true, "ora": true, "kello": true,
}

// orders are the orders of day, month and year that a date may have.
func (d *date) orders() (orders []string) {
	if d.month > 0 {
		if d.valid("nm") {
			return []string{"nm"}
		}
		return nil
	}
	candidates := []string{"dmy", "mdy", "ymd"}
	switch {
	case d.said != "":
		candidates = []string{d.said}
	case d.width[0] == 4:
		candidates = []string{"ymd"}
	case d.width[2] == 4 && d.dotted:
		candidates = []string{"dmy"}
	case d.width[2] == 4 || d.slashed:
		candidates = []string{"dmy", "mdy"}
	case d.dotted: // the last is Kaggle's: 17.14.11
		candidates = []string{"dmy", "ymd", "ydm"}
	}
	for _, order := range candidates {
		if d.valid(order) {
			orders = append(orders, order)
		}
	}
	if len(orders) > 1 && d.numbers[0] == d.numbers[1] && d.width[2] == 4 {
		return orders[:1] // 05/05/2025 is the same day in both
	}
	return orders
}

// parts are year, month and day in an order.
func (d *date) parts(order string) (year, month, day, width int) {
	n := d.numbers
	switch order {
	case "nm":
		year, day, width = n[1], n[0], d.width[1]
		if d.width[0] == 4 || n[0] > 31 {
			year, day, width = n[0], n[1], d.width[0]
		}
		month = d.month
	case "dmy":
		day, month, year, width = n[0], n[1], n[2], d.width[2]
	case "mdy":
		month, day, year, width = n[0], n[1], n[2], d.width[2]
	case "ydm":
		year, day, month, width = n[0], n[1], n[2], d.width[0]
	default:
		year, month, day, width = n[0], n[1], n[2], d.width[0]
	}
	const buddhist = 543 // of the calendar of Thailand, in which no video was posted before 2543
	if width <= 2 {
		year += 2000
	} else if year >= 2000+buddhist && year < 2100+buddhist {
		year -= buddhist
	}
	return year, month, day, width
}

func (d *date) valid(order string) bool {
	year, month, day, width := d.parts(order)
	return (width == 2 || width == 4) && year >= 2000 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func (d *date) time(order string, zone *time.Location) stamp {
	year, month, day, _ := d.parts(order)
	hour := d.hour
	switch {
	case d.pm && hour < 12:
		hour += 12
	case d.am && hour == 12:
		hour = 0
	case (d.pm || d.am) && hour > 12:
		return stamp{at: -1}
	}
	if d.zoned {
		zone = time.FixedZone("", d.offset)
	}
	return stamp{time.Date(year, time.Month(month), day, hour, d.minute, d.second, d.nanos, zone).Round(time.Millisecond).UnixMilli(), !d.timed}
}
