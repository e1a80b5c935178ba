package formats

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// keyNames are the members that lists about the same videos share.
var keyNames = []string{"id", "video_id", "videoId", "videoid", "aweme_id", "item_id", "shortcode", "shortCode", "url"}

// joined is an object with a list of videos and, in another list, counts of the same videos by their ids, such as
// `{"items": […], "statistics": […]}`, as one with the counts among the videos. Nil if the object is none.
func (r *tables) joined(o *object) []byte {
	lists := slices.DeleteFunc(sortedKeys(o.members), func(name string) bool { return o.kind(name) != '[' })
	for _, name := range lists {
		if len(lists) < 2 || !mayList(name) {
			continue
		}
		items := o.objects(name)
		if len(items) == 0 || r.countsViews(items[0]) {
			continue
		}
		for _, other := range lists {
			if other == name {
				continue
			}
			if rows := r.join(items, o.objects(other)); rows != nil {
				var out properties
				for _, member := range sortedKeys(o.members) {
					if member != name && member != other {
						out.raw(member, o.members[member])
					}
				}
				out.raw(name, rows)
				return out.whole()
			}
		}
	}
	return nil
}

// join is a list of objects with the members of those of another list that have the same key; nil unless each of
// these is of an own video of the first list, and counts its views.
func (r *tables) join(items, counts []*object) []byte {
	if len(counts) == 0 || len(counts) > len(items) || !r.countsViews(counts[0]) {
		return nil
	}
	at := slices.IndexFunc(keyNames, func(name string) bool { return items[0].has(name) && counts[0].has(name) })
	if at < 0 {
		return nil
	}
	key, of := keyNames[at], map[string]*object{}
	for _, row := range counts {
		of[string(row.text(key))] = row
	}
	out, found := []byte{'['}, 0
	for i, item := range items {
		var whole properties
		for _, name := range sortedKeys(item.members) {
			whole.raw(name, item.members[name])
		}
		if row := of[string(item.text(key))]; row != nil {
			found++
			for _, name := range sortedKeys(row.members) {
				if _, has := item.members[name]; !has {
					whole.raw(name, row.members[name])
				}
			}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, whole.whole()...)
	}
	if found < len(counts) || len(of) < len(counts) {
		return nil
	}
	return append(out, ']')
}

// inOne is a small file of one object, if it is to be read as a whole: its lists say more together, or with what
// stands behind them, as in a playlist of yt-dlp. Nil for any other: its lists are read as they come.
func inOne(r *reading, start []byte, whole bool) []byte {
	if value := jsontext.Value(start); !whole || value.Kind() != '{' || !value.IsValid(lenient) {
		return nil
	}
	o, err := r.parser.parse(start)
	if err != nil {
		return nil
	}
	if o.text("_type") == "playlist" && o.kind("entries") == '[' || r.tables.joined(o) != nil {
		return start
	}
	return nil
}

// sayLeft names the lists behind those of the videos that count views: they came too late to be joined with them.
func sayLeft(r *reading, rest []byte) {
	o, err := r.parser.parse(rest)
	if err != nil {
		return
	}
	for _, name := range sortedKeys(o.members) {
		if rows := o.objects(name); len(rows) > 0 && r.tables.countsViews(rows[0]) {
			r.out.report.formOnce("a list beside that of the videos counts views and was not read", ": %.60q", name)
		}
	}
}
