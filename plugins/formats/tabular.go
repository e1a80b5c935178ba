package formats

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// columnwise are the rows of a table that is written column by column, as pandas does:
// `{"id": {"0": …, "1": …}, "views": {"0": …}}`. Nil if the object is none.
func (o *object) columnwise() (rows [][]byte) {
	names := sortedKeys(o.members)
	if len(names) < 2 || len(names) > maxColumns {
		return nil
	}
	var table []properties
	for _, name := range names {
		if o.kind(name) != '{' {
			return nil
		}
		cells := o.within(o.members[name]).members
		if table == nil {
			table = make([]properties, len(cells))
		}
		if len(cells) != len(table) || len(cells) == 0 {
			return nil
		}
		for i := range table {
			value, ok := cells[strconv.Itoa(i)]
			if !ok {
				return nil
			}
			table[i].raw(name, value)
		}
	}
	for i := range table {
		rows = append(rows, table[i].whole())
	}
	return rows
}

// byColumn are the rows of a table that is written as a list of values for each column. Nil if
// the object is none.
func (r *reading) byColumn(o *object) (rows [][]byte) {
	var names [][]byte
	var columns [][]jsontext.Value
	for _, name := range sortedKeys(o.members) {
		values := o.values(name)
		if len(values) == 0 || len(columns) > 0 && len(values) != len(columns[0]) || slices.ContainsFunc(values, func(v jsontext.Value) bool { return v.Kind() == '{' }) {
			return nil
		}
		names, columns = append(names, quote(nil, name)), append(columns, values)
	}
	if len(columns) < 2 || r.tables.rowOfNames(names) == nil {
		return nil
	}
	for i := range columns[0] {
		var row properties
		for j, name := range sortedKeys(o.members) {
			row.raw(name, columns[j][i])
		}
		rows = append(rows, row.whole())
	}
	return rows
}

// keyed are objects in no known form under the ids or addresses of their videos, each with its
// name in it. Nil if the members of an object are named otherwise.
func (r *reading) keyed(o *object) (rows [][]byte) {
	for _, name := range sortedKeys(o.members) {
		if o.kind(name) != '{' || readLink(name).kind != videoLink && idForm(name) != "tiktok" {
			return nil
		}
		inner := o.within(o.members[name])
		if inner.any("id", "video_id", "videoId", "aweme_id") || !linksTo(inner, name) || slices.ContainsFunc(inner.inOrder(), func(m member) bool {
			return m.value[0] == '[' || inner.sub(m.name).any("id", "video_id", "videoId", "aweme_id", "url")
		}) {
			return nil
		}
		var row properties
		row.text("video_id", name)
		for _, member := range sortedKeys(inner.members) {
			row.raw(member, inner.members[member])
		}
		rows = append(rows, row.whole())
	}
	return rows
}

// linksTo reports an object with no address, or with that of the video of the given id.
func linksTo(o *object, id string) bool {
	l := readLink(string(o.text("url")))
	return !o.has("url") || l.kind == videoLink && l.id == id
}

// numbered are objects under their numbers, as pandas writes the rows of a table, whose members are
// named as columns. Nil if the object is none of them.
func (r *reading) numbered(o *object) (rows [][]byte) {
	for i := range len(o.members) {
		raw, ok := o.members[strconv.Itoa(i)]
		if !ok || raw.Kind() != '{' {
			return nil
		}
		if i == 0 {
			var names [][]byte
			for name := range o.within(raw).members {
				names = append(names, quote(nil, name))
			}
			if r.tables.rowOfNames(names) == nil {
				return nil
			}
		}
		rows = append(rows, raw)
	}
	return rows
}

// ownViews reports an object with views of its own beside the address of its video.
func (r *tables) ownViews(o *object) bool {
	linked, views := false, false
	for name, value := range o.members {
		kind := value.Kind()
		if kind != '"' && kind != '0' {
			continue
		}
		m, known := r.words().of(name)
		views = views || known && (m.field == "views" || m.field == meansPlays)
		linked = linked || known && (m.field == "sourceUrl" || m.field == "externalId") && readLink(string(textOf(value))).kind == videoLink
	}
	return linked && views
}

// countsViews reports views in an object, or in the objects that it has.
func (r *tables) countsViews(o *object) (found bool) {
	flatten(o, "", 0, func(path, value string) {
		m, known := r.words().of(path)
		found = found || known && value != "" && (m.field == "views" || m.field == meansPlays)
	})
	return found
}

// namedAsTables are the lists among some members that are named as none of videos, and whose objects are.
func (r *reading) namedAsTables(members []member) map[string]bool {
	found := map[string]bool{}
	for _, m := range members {
		if m.value[0] == '[' && !mayList(m.name) && r.namedAsTable(m.value) {
			found[m.name] = true
		}
	}
	return found
}

// namedAsTable reports a list whose first object has members that are named as the ids and the views of a table.
func (r *reading) namedAsTable(raw []byte) bool {
	list := &object{parser: &r.parser, members: map[string]jsontext.Value{"": raw}}
	values := list.values("")
	if len(values) == 0 || values[0].Kind() != '{' {
		return false
	}
	var names [][]byte
	views := false
	for name := range list.within(values[0]).members {
		m, known := r.tables.words().of(name)
		views = views || known && (m.field == "views" || m.field == meansPlays)
		names = append(names, quote(nil, name))
	}
	return views && r.tables.rowOfNames(names) != nil
}
