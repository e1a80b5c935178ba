package recipe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// checkTimeout of the request leaves a check the time to say that the provider hangs.
const checkTimeout = 20 * time.Second

// check is the cheap request that says whether settings, secret and connection work.
type check struct {
	request
	// says is the line for people, with members of the answer in braces.
	says string
}

// today is the only placeholder of a check's request: the day in UTC.
const today = "today"

func (c *Recipe) readCheck(r *reader, node ast.Node) {
	q := &check{}
	r.mapping(node, "a check", keys{
		"url": r.text(&q.url, "url"), "method": r.text(&q.method, "method"), "headers": c.readHeaders(r, &q.headers),
		"body": func(n ast.Node) { q.body = r.value(n, 0) }, "says": r.text(&q.says, "says"),
	})
	q.verb(r, node)
	r.isHTTPS(node, q.url)
	for _, found := range inBraces().FindAllStringSubmatch(q.filledTexts(), -1) {
		if found[1] != today {
			r.fault(node, "a check has no placeholder %q but {%s}", found[0], today)
		}
	}
	if q.says == "" || len(q.says) > stage.MaxChecked {
		r.fault(node, "says: want a line for people of at most %d bytes, such as \"{data.credits} credits left\"", stage.MaxChecked)
	}
	c.check = q
}

// checked makes the request of the check, once and outside of the budget, and returns its line.
func (c *Recipe) checked(ctx context.Context, call *stage.Call, options site.Options) (string, error) {
	if options.Timeout == 0 {
		options.Timeout = min(c.timeout, checkTimeout)
	}
	return sources.Check(ctx, call, func(ctx context.Context, call *stage.Call) (string, error) {
		quick := *c
		quick.gap = min(c.gap, time.Second) // people wait
		a, err := quick.open(call, options)
		if err != nil {
			return "", err
		}
		v := values{today: a.site.Now().UTC().Format(time.DateOnly)}
		address, err := c.check.address(v, a.base)
		if err != nil {
			return "", err
		}
		request, err := a.build(&c.check.request, address, v, a.key)
		if err != nil {
			return "", err
		}
		answer, err := a.site.Ask(ctx, request)
		var lost *site.Unreachable
		if errors.As(err, &lost) {
			return "", stage.Busyf(0, "%s: %s", a.ID, lost.Reason)
		}
		if err != nil {
			return "", err
		}
		u, own := a.means(answer)
		if u.means == "" && !json.Valid(answer.Body) {
			u.means = blocked
		}
		if u.means != "" {
			err := a.stop(u.means, answer, own)
			var passing *sources.Transient
			if errors.As(err, &passing) {
				err = stage.Busyf(passing.Wait, "%s", passing.Detail)
			}
			return "", err
		}
		return a.line(answer)
	})
}

// line fills the members of an answer into the line for people.
func (a *asker) line(answer site.Answer) (string, error) {
	missing := ""
	line := inBraces().ReplaceAllStringFunc(a.check.says, func(name string) string {
		path := strings.Trim(name, "{}")
		raw, there := at(answer.Body, path)
		text := strings.TrimSpace(string(raw)) // false and 0 are words too
		if said := word(raw); said != "" {
			text = said
		}
		if !there || text == "" || text[0] == '{' || text[0] == '[' {
			missing = cmp.Or(missing, path)
		}
		return text
	})
	if missing != "" {
		return "", &site.Stop{Status: stage.Changed, Detail: a.ID + "'s answer has no " + missing}
	}
	return a.site.Clean(line), nil
}
