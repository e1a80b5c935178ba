package mcp

// leastText is the bytes below which a text is not cut.
const leastText = 64

// fit cuts a value until it has at most budget bytes: the last items of a list, the last
// members of a free-form object, the end of a text, of the part that takes most of the
// room. Beside a list that was cut stands what is shown of it. It reports whether it cut
// main, the list that the answer is about.
func (n *node) fit(budget int, main *node) (cut bool) {
	lengths := map[*node]int{}
	for size := n.measure(); size > budget; size = n.measure() {
		part, parent := n.heaviest(nil)
		if part == nil {
			return cut
		}
		before := len(part.nodes)
		part.shrink(size - budget)
		switch {
		case part == main:
			cut = true
		case part.kind == '[' && parent != nil:
			if lengths[part] == 0 {
				lengths[part] = before
			}
			parent.say(part, before, lengths[part])
		}
	}
	return cut
}

// measure stores the bytes of every part.
func (n *node) measure() int {
	if n.kind != '{' && n.kind != '[' {
		n.bytes = len(n.appendTo(nil))
		return n.bytes
	}
	n.bytes = 2 + max(0, len(n.nodes)-1)
	for i, inner := range n.nodes {
		n.bytes += inner.measure()
		if n.kind == '{' {
			n.bytes += len(text(n.names[i]).appendTo(nil)) + 1
		}
	}
	return n.bytes
}

func (n *node) cuttable() bool {
	return n.kind == '"' && len(n.text) > leastText || (n.kind == '[' || n.free) && len(n.nodes) > 1
}

// heaviest is the part to cut, and the object that has it: the largest of those that are
// mostly one part, or the whole of what has no such part.
func (n *node) heaviest(parent *node) (part, of *node) {
	var most *node
	for _, inner := range n.nodes {
		if most == nil || inner.bytes > most.bytes {
			most = inner
		}
	}
	within := parent
	if n.kind == '{' {
		within = n
	}
	if most != nil && (2*most.bytes > n.bytes || !n.cuttable()) {
		if part, of = most.heaviest(within); part != nil {
			return part, of
		}
	}
	if n.cuttable() {
		return n, parent
	}
	for _, inner := range n.nodes {
		if part, of = inner.heaviest(within); part != nil {
			return part, of
		}
	}
	return nil, nil
}

// shrink removes about so many bytes, and at least a little. A list keeps one item.
func (n *node) shrink(bytes int) {
	if n.kind == '"' {
		keep := max(leastText/2, len(n.text)-bytes-len("…"))
		for keep > 0 && n.text[keep]&0xC0 == 0x80 { // within a character
			keep--
		}
		n.text = n.text[:keep] + "…"
		return
	}
	for bytes > 0 && len(n.nodes) > 1 {
		last := len(n.nodes) - 1
		bytes -= n.nodes[last].bytes + 1
		n.nodes = n.nodes[:last]
		if n.kind == '{' {
			bytes -= len(n.names[last]) + 3
			n.names = n.names[:last]
		}
	}
}

// say adds, or corrects, what is shown of a list. Lists of numbers and texts that had the
// same length are columns of one table, and stay of one length.
func (n *node) say(list *node, before, of int) {
	for i := range n.nodes {
		inner := n.nodes[i]
		if inner != list && list.plain() && inner.plain() && len(inner.nodes) == before {
			inner.nodes = inner.nodes[:len(list.nodes)]
		}
		if inner != list {
			continue
		}
		if known := n.get(n.names[i] + "Cut"); known != nil {
			*known = *shownOf(len(list.nodes), max(of, known.of()))
		} else {
			n.add(n.names[i]+"Cut", shownOf(len(list.nodes), of))
		}
	}
}

// plain reports whether all items of a list are numbers, booleans or texts.
func (n *node) plain() bool {
	for _, item := range n.nodes {
		if item.kind == '{' || item.kind == '[' {
			return false
		}
	}
	return n.kind == '['
}
