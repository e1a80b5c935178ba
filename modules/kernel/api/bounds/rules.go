package bounds

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// only fails if other parts of a field's rules are set than the named ones.
func only(fd protoreflect.FieldDescriptor, rules proto.Message, names ...string) (err error) {
	message := rules.ProtoReflect()
	message.Range(func(rule protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !slices.Contains(names, string(rule.Name())) {
			err = fmt.Errorf("%s: the rule %s is not supported", fd.FullName(), rule.FullName())
		}
		return err == nil
	})
	if err == nil && len(message.GetUnknown()) > 0 {
		err = fmt.Errorf("%s: a rule is unknown", fd.FullName())
	}
	return err
}

// scalarRules returns the rules of a field that is no list.
func scalarRules(fd protoreflect.FieldDescriptor, rules *validate.FieldRules) ([]rule, error) {
	switch {
	case rules.GetString() != nil:
		return stringRules(fd, rules.GetString())
	case rules.GetInt32() != nil:
		r := rules.GetInt32()
		if err := only(fd, r, "gte", "lte"); err != nil {
			return nil, err
		}
		return within(r.HasGte(), float64(r.GetGte()), r.HasLte(), float64(r.GetLte()), func(v protoreflect.Value) float64 { return float64(v.Int()) }), nil
	case rules.GetDouble() != nil:
		r := rules.GetDouble()
		if err := only(fd, r, "gte", "lte"); err != nil {
			return nil, err
		}
		return within(r.HasGte(), r.GetGte(), r.HasLte(), r.GetLte(), protoreflect.Value.Float), nil
	}
	return nil, nil
}

// email is what browsers accept as an address in a form.
const email = "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$"

// patterns says what a text that a pattern fits looks like. Compile refuses a pattern that
// is not here, since a person reads no regular expression.
var patterns = map[string]string{
	"^claim_[A-Za-z0-9]{16,128}$": "must be claim_ with 16 to 128 letters or digits after it",
}

const empty = "must not be empty"

func stringRules(fd protoreflect.FieldDescriptor, r *validate.StringRules) (list []rule, err error) {
	if err := only(fd, r, "min_len", "max_len", "pattern", "in", "email"); err != nil {
		return nil, err
	}
	add := func(wrong func(text string) bool, message string) {
		list = append(list, func(v protoreflect.Value) string {
			if wrong(v.String()) {
				return message
			}
			return ""
		})
	}
	if least := r.GetMinLen(); r.HasMinLen() {
		message := fmt.Sprintf("must be at least %d characters", least)
		if least == 1 {
			message = empty
		}
		add(func(s string) bool { return uint64(utf8.RuneCountInString(s)) < least }, message)
	}
	if most := r.GetMaxLen(); r.HasMaxLen() {
		add(func(s string) bool { return uint64(utf8.RuneCountInString(s)) > most }, fmt.Sprintf("must be at most %d characters", most))
	}
	if r.HasPattern() {
		pattern, err := regexp.Compile(r.GetPattern())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fd.FullName(), err)
		}
		message := patterns[r.GetPattern()]
		if message == "" {
			return nil, fmt.Errorf("%s: the pattern %s has no words for people", fd.FullName(), pattern)
		}
		add(func(s string) bool { return !pattern.MatchString(s) }, message)
	}
	if in := r.GetIn(); len(in) > 0 {
		add(func(s string) bool { return !slices.Contains(in, s) }, "must be one of "+strings.Join(in, ", "))
	}
	if r.GetEmail() {
		pattern := regexp.MustCompile(email)
		add(func(s string) bool { return s == "" }, empty)
		add(func(s string) bool { return s != "" && !pattern.MatchString(s) }, "must be a valid email address")
	}
	return list, nil
}

// within returns the rule of a number with bounds. NaN is never within.
func within(hasLeast bool, least float64, hasMost bool, most float64, number func(protoreflect.Value) float64) []rule {
	text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	var message string
	switch {
	case hasLeast && hasMost:
		message = "must be from " + text(least) + " to " + text(most)
	case hasLeast:
		message, most = "must be at least "+text(least), math.Inf(1)
	case hasMost:
		message, least = "must be at most "+text(most), math.Inf(-1)
	default:
		return nil
	}
	return []rule{func(v protoreflect.Value) string {
		if n := number(v); n >= least && n <= most {
			return ""
		}
		return message
	}}
}

// listRules adds the rules of a list and of its items.
func (f *field) listRules(r *validate.RepeatedRules) (err error) {
	if r == nil {
		return nil
	}
	if err := only(f.fd, r, "max_items", "unique", "items"); err != nil {
		return err
	}
	if r.GetUnique() && f.fd.Kind() != protoreflect.StringKind {
		return fmt.Errorf("%s: unique is only supported for texts", f.fd.FullName())
	}
	if most := r.GetMaxItems(); r.HasMaxItems() {
		f.list = append(f.list, func(v protoreflect.Value) string {
			if uint64(v.List().Len()) <= most {
				return ""
			}
			return fmt.Sprintf("must have at most %d items", most)
		})
	}
	if r.GetUnique() {
		f.list = append(f.list, func(v protoreflect.Value) string {
			seen := make(map[string]bool, v.List().Len())
			for i := range v.List().Len() {
				seen[v.List().Get(i).String()] = true
			}
			if len(seen) == v.List().Len() {
				return ""
			}
			return "must not have an item twice"
		})
	}
	if items := r.GetItems(); items != nil {
		if err := only(f.fd, items, "string", "int32", "double"); err != nil {
			return err
		}
		f.value, err = scalarRules(f.fd, items)
	}
	return err
}
