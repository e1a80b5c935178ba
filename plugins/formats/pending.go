package formats

import (
	"bytes"
	"slices"
)

// pendingObject is an object in no known form.
type pendingObject struct {
	raw  []byte
	line int
	// viewed says that it is no video without views.
	viewed bool
	key    creatorKey
}

// maxPending bounds how many objects are held before they are understood as a table, and
// maxPendingBytes how large they are together.
const (
	maxPending      = 200
	maxPendingBytes = 1 << 20
)

// unknown takes an object in no known form. The first ones of a file are held, since only
// together they show what their members mean.
func (r *reading) unknown(o *object, c scope, line int) error {
	if r.options.Format != "" || r.guessed || c.format != "" || len(o.raw) > maxPendingBytes {
		r.out.skip(UnknownForm, line, "an object in no known format")
		return nil
	}
	r.pending = append(r.pending, pendingObject{bytes.Clone(o.raw), line, c.viewed, c.key})
	size := 0
	for _, p := range r.pending {
		size += len(p.raw)
	}
	if len(r.pending) < maxPending && size < maxPendingBytes {
		return nil
	}
	return r.settle()
}

// settle decides about the pending objects: their members are columns, as those of a table.
func (r *reading) settle() error {
	pending := r.pending
	if r.pending = nil; len(pending) == 0 {
		return nil
	}
	r.guessed = true
	t := r.guess(pending)
	for _, p := range pending {
		o, err := r.parser.parse(p.raw)
		if err != nil || t == nil || !t.fits(o) {
			r.out.skip(UnknownForm, p.line, r.unknownDetail())
			continue
		}
		if err := t.object(r.tables, o, p.key, p.line); err != nil {
			return err
		}
	}
	r.objects = t
	return nil
}

func (r *reading) unknownDetail() string {
	if r.doubt != "" {
		return "an object in no known format: " + r.doubt
	}
	return "an object in no known format"
}

// guess understands objects by the names and values of their members; nil if it cannot.
func (r *reading) guess(pending []pendingObject) *objectTable {
	r.doubt = ""
	var paths []string
	rows := make([]map[string]string, len(pending))
	for i, p := range pending {
		o, err := r.parser.parse(p.raw)
		if err != nil {
			continue
		}
		rows[i] = map[string]string{}
		flatten(o, "", 0, func(path, value string) {
			if !slices.Contains(paths, path) && len(paths) < 300 {
				paths = append(paths, path)
			}
			rows[i][path] = value
		})
	}
	slices.Sort(paths)
	sample := make([][]string, len(rows))
	for i, row := range rows {
		sample[i] = make([]string, len(paths))
		for j, path := range paths {
			sample[i][j] = row[path]
		}
	}
	if r.tables.long(paths, sample) != nil {
		r.doubt = "each object is one count: write them as a table, or make an object of each video"
		return nil
	}
	u := r.tables.understand(paths, sample)
	if !u.has("externalId") && !u.has("sourceUrl") || !u.has("views") && !slices.ContainsFunc(pending, func(p pendingObject) bool { return !p.viewed }) {
		return nil
	}
	t, err := r.tables.lay(nil, paths, sample)
	if err != nil {
		r.doubt = err.Error()
		return nil
	}
	t.format = Mapped
	r.out.report.form("objects in no known format, by the names and values of their members")
	return &objectTable{rowTable: t, paths: paths}
}

// flatten gives the texts of an object, with dots in the names of what is in other objects.
func flatten(o *object, prefix string, depth int, take func(path, value string)) {
	names := sortedKeys(o.members)
	for _, name := range names {
		value := o.members[name]
		if value.Kind() != '{' {
			take(prefix+name, string(cell(o, name)))
			for _, count := range o.namedCounts(value) {
				take(prefix+name+"."+count.name, string(textOf(count.value)))
			}
			continue
		}
		if depth < 3 {
			flatten(o.within(value), prefix+name+".", depth+1, take)
		}
	}
}
