package formats

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// notionRow is a row of a database in Notion as an object with its properties. The API (version 2025-09-03)
// gives each row as a page, and each property beside its type: `{"Views": {"type": "number", "number": 5}}`.
// Nil if the object is no such page.
func (r *reading) notionRow(o *object) []byte {
	if o.text("object") != "page" || o.kind("properties") != '{' {
		return nil
	}
	var row properties
	page := o.sub("properties")
	for _, name := range sortedKeys(page.members) {
		property := page.within(page.members[name])
		if kind := string(property.text("type")); property.kind(kind) == 0 {
			return nil
		}
		value, several := property.notionValue(0)
		if row.raw(name, value); several {
			r.out.report.form("%q has several values in a page of Notion, and is not read there", name)
		}
	}
	return row.whole()
}

// notionValue is the plain value of a property in Notion; nil without one. When and by whom a page was
// made says nothing of a video, so that such properties have none. A rollup with several values has
// none either.
func (o *object) notionValue(depth int) (value jsontext.Value, several bool) {
	const deepest = 3 // a formula in a rollup
	kind := string(o.text("type"))
	switch kind {
	case "number", "checkbox", "url", "email", "phone_number", "string", "boolean":
		if found := o.kind(kind); found != '{' && found != '[' {
			return o.members[kind], false
		}
	case "title", "rich_text":
		return quoted(strings.Join(o.list(kind+":plain_text"), "")), false
	case "select", "status":
		return quoted(string(o.text(kind + ".name"))), false
	case "multi_select":
		return quoted(strings.Join(o.list("multi_select:name"), ",")), false
	case "date":
		return quoted(strings.Join(notionDate(o.sub("date")), "/")), false
	case "files":
		if files := o.objects("files"); len(files) == 1 {
			return files[0].at("external.url"), false // those in Notion have addresses for an hour
		}
	case "formula", "rollup":
		if depth < deepest {
			return o.sub(kind).notionValue(depth + 1)
		}
	case "array":
		all := o.objects("array")
		if len(all) == 1 && depth < deepest {
			return all[0].notionValue(depth + 1)
		}
		return nil, len(all) > 1
	}
	return nil, false
}

// quoted is a text in JSON; nil for an empty one.
func quoted(s string) jsontext.Value {
	if s == "" {
		return nil
	}
	return quote(nil, s)
}

// notionDate is a date in Notion, or its start and end. Its times have an offset, or a zone beside them.
func notionDate(date *object) (texts []string) {
	for _, name := range []string{"start", "end"} {
		t := string(date.text(name))
		if zone, err := time.LoadLocation(string(date.text("time_zone"))); err == nil && date.has("time_zone") {
			if at, err := time.ParseInLocation("2006-01-02T15:04:05.999", t, zone); err == nil {
				t = at.Format(time.RFC3339)
			}
		}
		if t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}
