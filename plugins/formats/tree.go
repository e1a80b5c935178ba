package formats

// takeTree takes the nodes of a collector that keeps what it fetched as a tree, as Facepager does: each row has its
// own number, that of the row above it, and the id of an object. Rows put in by hand are seeds and no answers.
func takeTree(u *understanding) {
	object, above, level := columnAt(u.header, "object_id"), columnAt(u.header, "parent_id"), columnAt(u.header, "level")
	if object < 0 || above < 0 || level < 0 {
		return
	}
	u.tree = true
	for i := range u.columns {
		c := &u.columns[i]
		switch foldName(c.Name) {
		case "objectid":
			c.meaning, c.known = meaning{field: "externalId", rank: -unwrapped}, true
		case "objecttype":
			c.meaning, c.known = meaning{field: meansType, rank: -unwrapped}, true
		case "id", "parentid", "level", "path", "objectkey", "querystatus", "querytype":
			c.meaning, c.known, c.Reason = meaning{field: meansIgnored}, true, "of the tree of a collector, not of the video"
		}
	}
	if at := columnAt(u.header, "query_type"); at >= 0 {
		u.constants["platform"] = onePlatform(u.columns[at].values)
	}
}

// onePlatform is the platform that all of some texts name, as YouTube:videos does; empty without one.
func onePlatform(texts []string) (found string) {
	for _, text := range texts {
		named := ""
		for _, token := range nameTokens(text) {
			if platform := platformWords[token]; platform != "" {
				named = platform
			}
		}
		if named == "" || found != "" && named != found {
			return ""
		}
		found = named
	}
	return found
}

// fetched are the rows of such a tree that are answers; of any other table all.
func fetched(header []string, rows [][]string) (kept [][]string) {
	kind := columnAt(header, "object_type")
	if kind < 0 || columnAt(header, "object_id") < 0 || columnAt(header, "parent_id") < 0 {
		return rows
	}
	for _, row := range rows {
		if kind >= len(row) || !notVideoKind(row[kind]) {
			kept = append(kept, row)
		}
	}
	return kept
}
