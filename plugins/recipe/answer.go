package recipe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage/site"
)

// at is the value at a path such as `data.paging.next`, and whether it is there. In a list a number
// names the element; without one, the first element that has the rest of the path counts.
func at(raw json.RawMessage, path string) (json.RawMessage, bool) {
	for name, rest := "", path; rest != ""; {
		whole := rest
		name, rest, _ = strings.Cut(rest, ".")
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && list != nil {
			n, err := strconv.Atoi(name)
			if err != nil {
				for _, one := range list {
					if found, there := at(one, whole); there {
						return found, true
					}
				}
				return nil, false
			}
			if n < 0 || n >= len(list) {
				return nil, false
			}
			raw = list[n]
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members[name] == nil {
			return nil, false
		}
		raw = members[name]
	}
	return raw, true
}

// word is a scalar as text: empty for null, false and what is no scalar.
func word(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	var text string
	switch {
	case len(raw) == 0, raw[0] == '{', raw[0] == '[', string(raw) == "null", string(raw) == "false":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}

// items are the records at a path, through any lists on the way; an empty path is the whole answer,
// and * stands for a list that is an object with the members 0, 1 and so on. there is false if the
// path leads nowhere, which is another thing than an empty list.
func items(raw json.RawMessage, path string) (all []json.RawMessage, there bool) {
	raw = bytes.TrimSpace(raw)
	if name, rest, _ := strings.Cut(path, "."); name == "*" {
		list, is := counted(raw)
		if path = rest; is {
			raw = list
		} else if string(raw) != "null" && (len(raw) == 0 || raw[0] != '[') {
			return nil, false
		}
	}
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil, false
		}
		if path == "" {
			return list, true
		}
		for _, one := range list {
			if inner, ok := items(one, path); ok {
				all, there = append(all, inner...), true
			}
		}
		return all, there || len(list) == 0
	}
	if path == "" {
		switch {
		case len(raw) > 0 && raw[0] == '{':
			return []json.RawMessage{raw}, true
		case string(raw) == "null":
			return nil, true
		}
		return nil, false
	}
	name, rest, _ := strings.Cut(path, ".")
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members[name] == nil {
		return nil, false
	}
	return items(members[name], rest)
}

// counted is the list that an object with numbers for members stands for, in their order.
func counted(raw json.RawMessage) (list json.RawMessage, is bool) {
	var members map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil, false
	}
	byNumber := map[int]json.RawMessage{}
	for name, one := range members {
		n, err := strconv.Atoi(name)
		if err != nil {
			return nil, false
		}
		byNumber[n] = one
	}
	all := []json.RawMessage{}
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		all = append(all, byNumber[n])
	}
	list, err := json.Marshal(all)
	return list, err == nil
}

// lists reports whether a value has a list with something in it, at any depth.
func lists(raw json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return len(list) > 0
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	if members["0"] != nil { // see counted
		return true
	}
	for _, value := range members {
		if value = bytes.TrimSpace(value); len(value) > 0 && (value[0] == '[' || value[0] == '{') && lists(value) {
			return true
		}
	}
	return false
}

// fits reports whether a rule is about an answer.
func (u rule) fits(status int, body json.RawMessage) bool {
	if len(u.statuses) > 0 && !slices.ContainsFunc(u.statuses, func(s string) bool {
		return s == strconv.Itoa(status) || s == strconv.Itoa(status/100)+"xx"
	}) {
		return false
	}
	if u.member == "" {
		return true
	}
	raw, there := at(body, u.member)
	if !there {
		return false
	}
	text := word(raw)
	if string(bytes.TrimSpace(raw)) == "false" {
		text = "false"
	}
	switch {
	case len(u.is) > 0:
		return slices.Contains(u.is, text)
	case u.has != "":
		return strings.Contains(strings.ToLower(string(raw)), strings.ToLower(u.has))
	}
	return text != ""
}

// means is what an answer means, by the recipe's own rules and then by its status: a rule without a
// meaning for a page. own says that a rule of the recipe decided.
func (c *Recipe) means(answer site.Answer) (u rule, own bool) {
	for _, u := range c.rules {
		if u.fits(answer.Status, answer.Body) {
			return u, true
		}
	}
	switch s := answer.Status; {
	case s >= 200 && s < 300:
		return rule{}, false
	case s == 401 || s == 403:
		return rule{means: misconfigured}, false
	case s == 402 || s == 429:
		return rule{means: quota}, false
	case s == 404 || s == 410:
		return rule{means: notFound}, false
	case s == 408 || s >= 500:
		return rule{means: busy, paid: true}, false
	}
	return rule{means: changed}, false
}
