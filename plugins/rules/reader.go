package rules

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// node is what a clause is made of: a word of the grammar, or a part between two of them.
type node struct {
	class byte
	cells []cell
}

// items are the letters of cells that say what a video is, verbs those that say what
// becomes of it.
const (
	items = "BG@#PLIZQHtwz"
	verbs = "NKAMJWSEUFXTDY"
)

// item makes checks of one rule; lost are the parts without one, and partly says that there
// are others.
func (c *compiler) item(text string, name stage.Rule, prompt bool) (checks []Check, lost []string, partly bool) {
	if c.foreign(lex(text)) {
		return nil, []string{text}, false
	}
	plain := c.spelled(text)
	if prompt { // a question asks a prompt for what it is about
		plain = strings.ReplaceAll(plain, "?", ".")
	}
	for _, r := range c.rewrites {
		plain = r.re.ReplaceAllString(plain, r.to)
	}
	for _, s := range c.scopes(c.cut(c.cellsOf(lex(plain)))) {
		made, missed := c.sentence(s.cells, plain, prompt)
		checks, lost = append(checks, within(s.on, made)...), append(lost, missed...)
	}
	if len(checks)+len(lost) == 0 {
		lost = []string{text}
	}
	if contradict(checks) { // "only Shorts, no YouTube"
		lost = append(lost, "what is left")
	}
	partly = len(checks) > 0
	if len(lost) > 0 && !prompt { // a rule that is half understood would drop what it should keep
		checks = slices.DeleteFunc(checks, func(c Check) bool { return c.Effect != Prefer })
	}
	for i := range checks {
		checks[i].Item, checks[i].ID = name.Text, name.ID
		checks[i].Conditions = mapped(checks[i].Conditions, Condition.prepared)
		checks[i].Unless = mapped(checks[i].Unless, Condition.prepared)
	}
	return checks, lost, partly
}

// contradict reports checks of which one drops all that another requires.
func contradict(checks []Check) bool {
	for _, a := range checks {
		for _, b := range checks {
			if a.Effect == Require && b.Effect == Drop && !a.Any && len(a.Unless)+len(b.Unless) == 0 && len(b.Conditions) == 1 {
				had, not := a.Conditions[0], b.Conditions[0]
				if had.Field == not.Field && !had.numeric() && had.In == not.In && !slices.ContainsFunc(had.Values, func(v string) bool { return !slices.Contains(not.Values, v) }) {
					return true
				}
			}
		}
	}
	return false
}

func letters(cells []cell) string { return string(mapped(cells, func(c cell) byte { return c.class })) }

// cut leaves out comments and reasons, or gives cells the letter of the row.
func (c *compiler) cut(cells []cell) []cell {
	for _, row := range c.cuts {
		for {
			m := row.re.FindStringSubmatchIndex(letters(cells))
			if m == nil {
				break
			}
			for i := m[2]; i < m[3] && row.name != ""; i++ {
				cells[i].class = row.name[0]
			}
			if row.name == "" {
				cells = slices.Delete(cells, m[2], m[3])
			}
		}
	}
	return cells
}

// scoped are cells that are about a platform; on is nil for those about all.
type scoped struct {
	on    *Condition
	cells []cell
}

// scopes splits what is said of platforms: "TikTok: min 5k views; Instagram: min 2k".
func (c *compiler) scopes(cells []cell) (all []scoped) {
	for len(cells) > 0 {
		end := strings.IndexByte(letters(cells)+".", '.')
		sentence := cells[:end]
		cells = cells[min(end+1, len(cells)):]
		on, n := c.scope(sentence)
		if on == nil && len(all) > 0 && all[len(all)-1].on == nil {
			last := &all[len(all)-1].cells
			*last = append(append(*last, cell{class: '.'}), sentence...)
			continue
		}
		rest := sentence[n:]
		for i := range rest { // "on TikTok 5k likes, on Instagram 2k"
			if rest[i].class == ',' && on != nil {
				if next, _ := c.scope(rest[i+1:]); next != nil {
					cells, rest = append(slices.Clone(rest[i+1:]), append([]cell{{class: '.'}}, cells...)...), rest[:i]
					break
				}
			}
		}
		all = append(all, scoped{on, rest})
	}
	return all
}

// scope reads the platform at the start of a sentence, which takes n cells.
func (c *compiler) scope(cells []cell) (on *Condition, n int) {
	for _, row := range c.heads {
		m := row.re.FindStringSubmatchIndex(letters(cells))
		if m == nil || !strings.ContainsAny(strings.Trim(letters(cells[m[5]:]), "PMso"), items+verbs) && !strings.Contains(letters(cells[m[5]:]), "MP") {
			continue
		}
		on = &Condition{Field: Platform}
		for _, one := range cells[:m[3]] {
			for _, found := range one.found {
				on.Values = append(on.Values, found.Values...)
			}
		}
		slices.Sort(on.Values)
		on.Values = slices.Compact(on.Values)
		return on, m[5]
	}
	return nil, 0
}

// nodes puts what is between two words of the grammar into parts.
func nodes(cells []cell) (all []node) {
	for from := 0; from < len(cells); {
		class := cells[from].class
		first := len(all) == 0 || strings.IndexByte(",.c:?-", all[len(all)-1].class) >= 0
		if strings.IndexByte(verbs+",&|.c:?-()d", class) >= 0 || class == 'C' && first {
			all = append(all, node{class, cells[from : from+1]})
			from++
			continue
		}
		to := from + 1
		for to < len(cells) && strings.IndexByte(verbs+",&|.c:?-()d", cells[to].class) < 0 {
			to++
		}
		if n := parted(cells[from:to]); n.class != 0 {
			all = append(all, n)
		}
		from = to
	}
	return all
}

// kindsOfParts are the classes of parts that have one of some letters and one of others.
var kindsOfParts = []struct {
	class        byte
	some, others string
}{
	{'z', "z", "z"},
	{'q', "@#PLIZQtw", "r"},
	{'m', "@#PLIZQtw", "o"},
	{'n', "@#PLIZQtw", "@#PLIZQtw"},
	{'V', "BG", "opr"},
	{'G', "G", "G"},
	{'B', "B", "B"},
	{'h', "H", "H"},
	{'o', "op", "op"},
}

// parted is the node of a part; its class is 0 if the part says nothing.
func parted(cells []cell) node {
	all := letters(cells)
	if m := judgement().FindStringSubmatchIndex(all); m != nil {
		return node{'y', cells[:max(m[3], m[5])]}
	}
	for _, kind := range kindsOfParts {
		if strings.ContainsAny(all, kind.some) && strings.ContainsAny(all, kind.others) {
			return node{kind.class, cells}
		}
	}
	return node{}
}

// sentence makes checks of sentences that are about the same platforms.
func (c *compiler) sentence(cells []cell, text string, prompt bool) (checks []Check, lost []string) {
	all := nodes(cells)
	classes := string(mapped(all, func(n node) byte { return n.class }))
	for at := 0; at < len(all); {
		if strings.IndexByte(",&|.c:?-()", classes[at]) >= 0 {
			at++
			continue
		}
		name, groups, n := c.clauseAt(classes[at:])
		if n == 0 {
			return checks, append(lost, said(text, all[at:]))
		}
		r := &reading{compiler: c, prompt: prompt}
		made, missed := r.clause(name, func(i int) []node {
			if groups[2*i] < 0 {
				return nil
			}
			return all[at+groups[2*i] : at+groups[2*i+1]]
		})
		if len(made)+len(missed) == 0 {
			missed = []string{said(text, all[at:at+n])}
		}
		checks, lost = append(checks, made...), append(lost, missed...)
		at += n
	}
	return checks, lost
}

// clauseAt is the row of the clause at the start: its name, its groups, and its length.
func (c *compiler) clauseAt(classes string) (name string, groups []int, n int) {
	for _, row := range c.clauses {
		if m := row.re.FindStringSubmatchIndex(classes); m != nil {
			return row.name, m, max(m[len(m)-1], m[len(m)-3]) // the last group that has matched
		}
	}
	return "", nil, 0
}

// said are the words of nodes as the rule has them.
func said(text string, all []node) string {
	from, to := len(text), 0
	for _, n := range all {
		for _, c := range n.cells {
			for _, t := range c.tokens {
				from, to = min(from, t.from), max(to, t.to)
			}
		}
	}
	if from >= to {
		return strings.TrimSpace(text)
	}
	return text[from:to]
}
