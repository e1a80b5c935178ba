package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// A contractCase is one call of a fresh account and what the contract says of it.
type contractCase struct {
	name string
	// given are calls made before, each of which must succeed.
	given []string
	// call is `METHOD path body`; the body may be missing.
	call string
	// anonymous calls carry no key.
	anonymous bool
	// header replaces or adds one header, as `Name: value`.
	header string
	// restOnly calls say something else, or nothing wrong, on other protocols.
	restOnly bool
	want     int
	// code is the `error` of a refusal.
	code string
	// paths are the issues' paths of an invalid_request, in any order.
	paths []string
	// has are JSON members that the answer must have, as `name=value` of the top level.
	has map[string]any
}

const (
	setBrief = `POST /v1/workspace {"description":"Manual espresso makers"}`
	setRules = `PUT /v1/rules {"text":"- skip giveaways"}`
	// setSource sets keys of an account.
	setSource = `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"AIza-of-ours-1"},"settings":{"derived_metrics_accepted":"yes"}}`
)

func long(n int) string { return strings.Repeat("ü", n) }

func quoted(n int) string { return `"` + long(n) + `"` }

func listOf(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// manyRules is a ruleset of n lines, in JSON.
func manyRules(n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `- rule %d\n`, i)
	}
	return lines.String()
}

func annotations(n int) string {
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf(`"k%d":"v"`, i))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func contractCases() []contractCase {
	bad := func(name, call string, paths ...string) contractCase {
		return contractCase{name: name, call: call, want: 400, code: "invalid_request", paths: paths}
	}
	ok := func(name, call string) contractCase { return contractCase{name: name, call: call, want: 200} }
	onREST := func(c contractCase) contractCase { c.restOnly = true; return c }
	after := func(c contractCase, given ...string) contractCase { c.given = given; return c }
	code := func(name, call string, status int, code string) contractCase {
		return contractCase{name: name, call: call, want: status, code: code}
	}
	address := func(n int) string {
		return `"https://espresso.com/` + strings.Repeat("a", n-len("https://espresso.com/")) + `"`
	}
	token := func(n int) string { return `{"claimToken":"claim_` + strings.Repeat("a", n) + `"}` }
	return append(firstPages(), []contractCase{
		// Public operations.
		{name: "health", call: "GET /v1/health", anonymous: true, want: 200, has: map[string]any{"status": "ok"}},
		bad("schedule and template", `POST /v1/scrolls {"schedule":9,"template":"no-such"}`, "schedule", "template"),
		bad("name and website", `POST /v1/workspace {"name":"","website":"https://127.0.0.1"}`, "name", "website"),
		bad("name and no subject", `POST /v1/workspace {"name":""}`, "name", ""),
		bad("a subject that cannot be read", `POST /v1/workspace {"website":5}`, "website"),
		bad("name and app-store address of a change", `PUT /v1/workspace {"name":"","appStoreUrl":"https://apps.apple.com/app"}`, "name", "appStoreUrl"),
		bad("limit and cursor", `GET /v1/library?limit=0&cursor=none`, "limit", "cursor"),
		bad("names of another protocol", `GET /v1/library?pageToken=x&pageSize=5`, "pageToken", "pageSize"),
		bad("path and data", `PUT /v1/sandbox/files {"path":"../x","data":null}`, "path", "data"),
		bad("path and an unknown property", `PUT /v1/sandbox/files {"path":"../x","data":"a","mode":1}`, "path", "mode"),
		bad("rules over their number and an unknown property", `PUT /v1/rules {"text":"`+manyRules(501)+`","x":1}`, "text", "x"),
		bad("rules over their number", `PUT /v1/rules {"text":"`+manyRules(501)+`"}`, "text"),
		after(ok("as many rules as there may be", `PUT /v1/rules {"text":"`+manyRules(500)+`"}`), setBrief),
		onREST(bad("an import with an unknown parameter", `POST /v1/imports?x=1 {}`, "x")),
		onREST(bad("a preview with an unknown parameter", `POST /v1/imports/preview?x=1 {}`, "x")),
		ok("an unknown import", `GET /v1/imports?id=imp_0`),
		bad("an import without an id", `GET /v1/imports`, "id"),
		ok("imports", `GET /v1/imports/list`),
		bad("imports beyond their limit", `GET /v1/imports/list?limit=101`, "limit"),
		ok("undo of an unknown import", `POST /v1/imports/undo {"id":"imp_0"}`),
		bad("undo without an id", `POST /v1/imports/undo {}`, "id"),
		bad("an import of no text", `POST /v1/imports/text {}`, "text"),
		after(contractCase{name: "an import of a text", call: `POST /v1/imports/text {"text":"url,views\nhttps://www.tiktok.com/@maker/video/7300000000000000000,1200"}`, want: 202}, setBrief),
		{name: "health with a query", call: "GET /v1/health?x=1", anonymous: true, want: 400, code: "invalid_request", paths: []string{"x"}},
		{name: "pricing", call: "GET /v1/pricing", anonymous: true, want: 200},
		{name: "pricing with a broken key", call: "GET /v1/pricing", header: "Authorization: Bearer nonsense", want: 200},
		ok("subscribe monthly", `POST /v1/subscribe {"billingInterval":"monthly"}`),
		ok("subscribe annual pro", `POST /v1/subscribe {"billingInterval":"annual","plan":"pro"}`),
		bad("pricing with a query", "GET /v1/pricing?x=1", "x"),
		bad("subscribe without interval", `POST /v1/subscribe {}`, "billingInterval"),
		bad("subscribe weekly", `POST /v1/subscribe {"billingInterval":"weekly","plan":"max"}`, "billingInterval", "plan"),
		bad("claim of a token too short", "POST /v1/subscribe/claim "+token(15), "claimToken"),
		{name: "claim of the shortest token", call: "POST /v1/subscribe/claim " + token(16), want: 200, has: map[string]any{"status": "invalid_token"}},
		{name: "claim of the longest token", call: "POST /v1/subscribe/claim " + token(128), want: 200, has: map[string]any{"status": "invalid_token"}},
		bad("claim of a token too long", "POST /v1/subscribe/claim "+token(129), "claimToken"),
		{name: "recover of a stranger", call: `POST /v1/api_keys/recover {"email":"nobody@example.com"}`, want: 200, has: map[string]any{"sent": true}},
		bad("recover without an address", `POST /v1/api_keys/recover {"email":"nobody"}`, "email"),
		bad("reissue code too short", `POST /v1/api_keys/reissue {"email":"a@example.com","code":"123"}`, "code"),
		{name: "reissue code shortest", call: `POST /v1/api_keys/reissue {"email":"a@example.com","code":"1234"}`, want: 200, has: map[string]any{"status": "invalid_code"}},
		{name: "reissue code longest", call: `POST /v1/api_keys/reissue {"email":"a@example.com","code":"1234567890"}`, want: 200, has: map[string]any{"status": "invalid_code"}},
		bad("reissue code too long", `POST /v1/api_keys/reissue {"email":"a","code":"12345678901"}`, "code", "email"),

		// The protocols.
		{name: "unknown path", call: "GET /v1/nothing", want: 404, code: "not_found"},
		{name: "trailing slash", call: "GET /v1/usage/", want: 404, code: "not_found"},
		{name: "wrong method", call: "DELETE /v1/workspace", want: 405, code: "method_not_allowed"},
		{name: "no key", call: "GET /v1/usage", anonymous: true, want: 401, code: "unauthorized"},
		{name: "no key on an older endpoint", call: "POST /v1/agent {}", anonymous: true, want: 401, code: "unauthorized"},
		{name: "wrong scheme", call: "GET /v1/usage", header: "Authorization: Basic abc", want: 401, code: "unauthorized"},
		{name: "mistyped key", call: "GET /v1/usage", header: "Authorization: Bearer scr_live_x", want: 401, code: "unauthorized"},
		{name: "wrong content type", call: `PUT /v1/rules {"text":"a"}`, header: "Content-Type: text/plain", want: 400, code: "invalid_request", paths: []string{""}},
		{name: "content type with charset", given: []string{setBrief}, call: `PUT /v1/rules {"text":"a"}`, header: "Content-Type: application/json; charset=utf-8", want: 200},
		bad("empty body", "PUT /v1/rules ", ""),
		bad("body is a list", "PUT /v1/rules []", ""),
		bad("trailing data", `PUT /v1/rules {"text":"a"}{}`, ""),
		bad("broken JSON", `PUT /v1/rules {"text"`, ""),
		bad("repeated property", `PUT /v1/rules {"text":"a","text":"b"}`, "text"),
		bad("wrong case", `PUT /v1/rules {"Text":"a"}`, "Text", "text"),
		bad("unknown property", `PUT /v1/rules {"text":"a","colour":"red"}`, "colour"),
		onREST(bad("null for a string", `PUT /v1/rules {"text":null}`, "text")),
		bad("number for a string", `PUT /v1/rules {"text":5}`, "text"),
		bad("lone surrogate", `PUT /v1/rules {"text":"\ud800"}`, "text"),
		bad("NUL", `PUT /v1/rules {"text":"a\u0000b"}`, "text"),
		bad("all faults at once", `POST /v1/scrolls {"prompt":"","schedule":8,"template":"","idempotencyKey":"short","x":1}`, "prompt", "schedule", "template", "idempotencyKey", "x"),

		// Usage.
		{name: "usage", call: "GET /v1/usage", want: 200, has: map[string]any{"plan": "research_library", "status": "active", "active": true}},
		ok("events", "GET /v1/events"),
		ok("events least", "GET /v1/events?limit=1"),
		ok("events most", "GET /v1/events?limit=100"),
		bad("events none", "GET /v1/events?limit=0", "limit"),
		bad("events too many", "GET /v1/events?limit=101", "limit"),
		bad("events fraction", "GET /v1/events?limit=1.5", "limit"),
		bad("events twice", "GET /v1/events?limit=1&limit=2", "limit"),
		onREST(bad("events page token is for rpc", "GET /v1/events?pageToken=x", "pageToken")),

		// Workspace.
		{name: "no workspace", call: "GET /v1/workspace", want: 200, has: map[string]any{"workspace": nil}},
		{name: "brief created", call: setBrief, want: 200, has: map[string]any{"outcome": "created"}},
		{name: "brief existing", given: []string{setBrief}, call: setBrief, want: 200, has: map[string]any{"outcome": "existing"}},
		after(code("brief already set", `POST /v1/workspace {"description":"Something else"}`, 409, "workspace_already_set"), setBrief),
		code("brief without subject", `POST /v1/workspace {"name":"A"}`, 400, "invalid_workspace_brief"),
		code("brief empty", `POST /v1/workspace {}`, 400, "invalid_workspace_brief"),
		code("brief on http", `POST /v1/workspace {"website":"http://espresso.com"}`, 400, "invalid_workspace_brief"),
		code("brief on loopback", `POST /v1/workspace {"website":"https://127.0.0.1"}`, 400, "invalid_workspace_brief"),
		code("brief with credentials", `POST /v1/workspace {"website":"https://a:b@espresso.com"}`, 400, "invalid_workspace_brief"),
		code("brief with a store address without id", `POST /v1/workspace {"appStoreUrl":"https://apps.apple.com/us/app/x"}`, 400, "invalid_workspace_brief"),
		ok("brief of an app", `POST /v1/workspace {"appStoreUrl":"https://apps.apple.com/us/app/x/id123456"}`),
		ok("brief by the old url", `POST /v1/workspace {"url":"https://espresso.com"}`),
		ok("description longest", `POST /v1/workspace {"description":`+quoted(20000)+`}`),
		bad("description too long", `POST /v1/workspace {"description":`+quoted(20001)+`}`, "description"),
		bad("description empty", `POST /v1/workspace {"description":""}`, "description"),
		ok("website longest", `POST /v1/workspace {"website":`+address(2048)+`}`),
		bad("website too long", `POST /v1/workspace {"website":`+address(2049)+`}`, "website"),
		ok("name longest", `POST /v1/workspace {"description":"a","name":`+quoted(200)+`}`),
		bad("name too long", `POST /v1/workspace {"description":"a","name":`+quoted(201)+`}`, "name"),
		ok("competitors most", `POST /v1/workspace {"description":"a","competitors":`+listOf(20, quoted(300))+`}`),
		bad("competitors too many", `POST /v1/workspace {"description":"a","competitors":`+listOf(21, `"a"`)+`}`, "competitors"),
		bad("competitor too long", `POST /v1/workspace {"description":"a","competitors":["a",`+quoted(301)+`]}`, "competitors[1]"),
		bad("competitor empty", `POST /v1/workspace {"description":"a","competitors":["a","b","c",""]}`, "competitors[3]"),
		bad("competitor null", `POST /v1/workspace {"description":"a","competitors":[null]}`, "competitors[0]"),
		onREST(bad("rpc flag on REST", `POST /v1/workspace {"description":"a","clearCompetitors":true}`, "clearCompetitors")),
		code("update without workspace", `PUT /v1/workspace {"name":"a"}`, 409, "workspace_required"),
		after(ok("update nothing", `PUT /v1/workspace {}`), setBrief),
		after(contractCase{name: "update", call: `PUT /v1/workspace {"name":"N","competitors":[]}`, want: 200, has: map[string]any{"archivedVideos": 0.0}}, setBrief),
		after(bad("update to loopback", `PUT /v1/workspace {"website":"https://localhost"}`, "website"), setBrief),

		// Changes.
		{name: "changes", call: "GET /v1/changes", want: 200, has: map[string]any{"more": false}},
		{name: "changes from now on", call: "GET /v1/changes?cursor=now&types=video.added,rules.changed&wait=0&limit=500", want: 200, has: map[string]any{"more": false}},
		{name: "changes since a time", call: "GET /v1/changes?since=2026-01-01T00:00:00Z", want: 200, has: map[string]any{"more": false}},
		bad("changes since a time and after a cursor", "GET /v1/changes?since=2026-01-01&cursor=now", "since"),
		{name: "summary of no changes", call: "GET /v1/changes/summary", want: 200, has: map[string]any{"trendsLeft": 0.0}},
		bad("summary since seconds", "GET /v1/changes/summary?since=1752419109&limit=1", "since", "limit"),
		bad("changes out of bounds", "GET /v1/changes?limit=501&cursor=x&types=video.lost&wait=26", "limit", "cursor", "types", "wait"),

		// Webhooks.
		ok("no webhooks", "GET /v1/webhooks"),
		ok("webhook", `POST /v1/webhooks/create {"url":"https://hooks.customer.com/in","types":["rules.changed"]}`),
		bad("webhooks with a query", "GET /v1/webhooks?limit=1", "limit"),
		bad("webhook out of bounds", `POST /v1/webhooks/create {"url":"http://127.0.0.1/","types":["video.lost"],"cursor":"x"}`, "url", "types[0]", "cursor"),
		bad("update of no webhook", `POST /v1/webhooks/update {"paused":"yes"}`, "id", "paused"),
		bad("rotation of no webhook", `POST /v1/webhooks/rotate {}`, "id"),
		bad("test of no webhook", `POST /v1/webhooks/test {"id":""}`, "id"),
		bad("deletion of no webhook", `POST /v1/webhooks/delete {"id":5}`, "id"),
		{name: "update of an unknown webhook", call: `POST /v1/webhooks/update {"id":"whk_unknown","paused":true}`, want: 200, has: map[string]any{"found": false, "webhook": nil}},
		{name: "rotation of an unknown webhook", call: `POST /v1/webhooks/rotate {"id":"whk_unknown"}`, want: 200, has: map[string]any{"found": false, "webhook": nil}},
		{name: "test of an unknown webhook", call: `POST /v1/webhooks/test {"id":"whk_unknown"}`, want: 200, has: map[string]any{"found": false, "delivery": nil}},
		{name: "deletion of an unknown webhook", call: `POST /v1/webhooks/delete {"id":"whk_unknown"}`, want: 200, has: map[string]any{"found": false}},
		{name: "deliveries of an unknown webhook", call: "GET /v1/webhooks/deliveries?id=whk_unknown", want: 200, has: map[string]any{"nextCursor": nil}},
		bad("deliveries without a webhook", "GET /v1/webhooks/deliveries?limit=101&cursor=x", "id", "limit", "cursor"),
		{name: "redelivery by an unknown webhook", call: `POST /v1/webhooks/redeliver {"id":"whk_unknown","cursor":"now"}`, want: 200, has: map[string]any{"found": false}},
		bad("redelivery of nothing", `POST /v1/webhooks/redeliver {"id":"whk_unknown"}`, "changeId"),

		// Sources.
		ok("sources", "GET /v1/sources/list"),
		bad("sources with a query", "GET /v1/sources/list?limit=1", "limit"),
		{name: "keys of a source", call: setSource, want: 200},
		bad("keys of no source", `POST /v1/sources/set {"secrets":{"api_key":"AIza-of-ours-1"}}`, "source"),
		bad("keys of an unknown source", `POST /v1/sources/set {"source":"mars"}`, "source"),
		bad("keys of a source that takes none", `POST /v1/sources/set {"source":"ytdlp"}`, "source"),
		bad("keys out of bounds", `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"short","token":"abcdefgh"},"settings":{"days":"many","api_url":"https://elsewhere.example.com/","order":["date"]}}`,
			"secrets.api_key", "secrets.token", "settings.days", "settings.api_url", "settings.order"),
		bad("keys with a space", `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"AIza of ours"}}`, "secrets.api_key"),
		bad("keys too long", `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":`+quoted(501)+`}}`, "secrets.api_key"),
		bad("keys and no statement", `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"AIza-of-ours-1"}}`, "settings.derived_metrics_accepted"),
		bad("statement and no keys", `POST /v1/sources/set {"source":"youtube","settings":{"derived_metrics_accepted":"yes"}}`, "secrets.api_key"),
		{name: "removal of no keys", call: `POST /v1/sources/remove {"source":"youtube"}`, want: 200, has: map[string]any{"found": false}},
		after(contractCase{name: "removal of keys", call: `POST /v1/sources/remove {"source":"youtube"}`, want: 200, has: map[string]any{"found": true}}, setSource),
		{name: "try of a source that is not set up", call: `POST /v1/sources/try {"source":"youtube","seed":"@moka"}`, want: 200, has: map[string]any{"state": "unset", "own": false, "status": nil}},
		bad("try of an unknown source", `POST /v1/sources/try {"source":"mars","seed":"@moka"}`, "source"),
		bad("try on a platform that the source has not", `POST /v1/sources/try {"source":"youtube","seed":"@moka","platform":"tiktok"}`, "platform"),
		bad("try of nothing", `POST /v1/sources/try {"source":"youtube","seed":"@"}`, "seed"),
		bad("removal of no source", `POST /v1/sources/remove {"id":"youtube"}`, "source", "id"),

		// Rules.
		{name: "no rules", call: "GET /v1/rules", want: 200, has: map[string]any{"rules": nil}},
		code("rules without workspace", setRules, 409, "workspace_required"),
		after(contractCase{name: "rules created", call: setRules, want: 200, has: map[string]any{"outcome": "created"}}, setBrief),
		after(contractCase{name: "rules unchanged", call: setRules, want: 200, has: map[string]any{"outcome": "unchanged"}}, setBrief, setRules),
		after(ok("rules longest", `PUT /v1/rules {"text":`+quoted(20000)+`}`), setBrief),
		after(bad("rules too long", `PUT /v1/rules {"text":`+quoted(20001)+`}`, "text"), setBrief),
		after(bad("rules empty", `PUT /v1/rules {"text":""}`, "text"), setBrief),

		// Scrolls.
		code("scroll without workspace", `POST /v1/scrolls {}`, 409, "workspace_required"),
		after(contractCase{name: "scroll queued", call: `POST /v1/scrolls {}`, want: 202, has: map[string]any{"outcome": "queued"}}, setBrief),
		after(contractCase{name: "scroll existing", call: `POST /v1/scrolls {"idempotencyKey":"12345678"}`, want: 200, has: map[string]any{"outcome": "existing"}}, setBrief, `POST /v1/scrolls {"idempotencyKey":"12345678"}`),
		after(bad("scroll of an unknown template", `POST /v1/scrolls {"template":"weekly"}`, "template"), setBrief),
		after(contractCase{name: "scroll at the upper bounds", call: `POST /v1/scrolls {"prompt":` + quoted(20000) + `,"schedule":7,"template":"niche","idempotencyKey":` + quoted(200) + `}`, want: 202}, setBrief),
		bad("scroll above the bounds", `POST /v1/scrolls {"prompt":`+quoted(20001)+`,"schedule":0,"template":`+quoted(101)+`,"idempotencyKey":`+quoted(201)+`}`, "prompt", "schedule", "template", "idempotencyKey"),
		onREST(bad("scroll schedule in quotes", `POST /v1/scrolls {"schedule":"1"}`, "schedule")),
		bad("scroll schedule with a fraction", `POST /v1/scrolls {"schedule":1.5}`, "schedule"),
		bad("scroll without id", "GET /v1/scrolls", "id"),
		bad("scroll with an empty id", "GET /v1/scrolls?id=", "id"),
		{name: "scroll unknown", call: "GET /v1/scrolls?id=scr_unknown", want: 200, has: map[string]any{"found": false, "scroll": nil}},

		code("watch of an unknown scroll", "GET /v1/scrolls/watch?id=scr_unknown", 404, "not_found"),
		bad("watch without id", "GET /v1/scrolls/watch?scroll=1", "id", "scroll"),
		{name: "list of no scrolls", call: "GET /v1/scrolls/list", want: 200, has: map[string]any{"nextCursor": nil}},
		ok("list of scrolls, most", "GET /v1/scrolls/list?limit=100"),
		bad("list of scrolls with a broken cursor", "GET /v1/scrolls/list?limit=101&cursor=x", "limit", "cursor"),
		onREST(bad("list of scrolls with the names of another protocol", "GET /v1/scrolls/list?pageSize=5&pageToken=x", "pageSize", "pageToken")),
		{name: "list of no verdicts", call: "GET /v1/scrolls/verdicts?dropped=true&limit=1", want: 200, has: map[string]any{"nextCursor": nil}},
		bad("list of verdicts", "GET /v1/scrolls/verdicts?dropped=1&scrollId=&limit=0&cursor=x", "dropped", "scrollId", "limit", "cursor"),
		{name: "cancel of an unknown scroll", call: `POST /v1/scrolls/cancel {"id":"scr_unknown"}`, want: 200, has: map[string]any{"found": false, "scroll": nil}},
		after(ok("cancel", `POST /v1/scrolls/cancel {"id":"scr_unknown"}`), setBrief, `POST /v1/scrolls {}`),
		bad("cancel without id", `POST /v1/scrolls/cancel {"scroll":1}`, "id", "scroll"),
		{name: "no schedule", call: "GET /v1/scrolls/schedule", want: 200, has: map[string]any{"schedule": nil}},
		after(ok("schedule", "GET /v1/scrolls/schedule"), setBrief, `POST /v1/scrolls {"schedule":2}`),
		{name: "stop of no schedule", call: `POST /v1/scrolls/schedule/stop {}`, want: 200, has: map[string]any{"stopped": false}},
		after(contractCase{name: "stop of the schedule", call: `POST /v1/scrolls/schedule/stop {}`, want: 200, has: map[string]any{"stopped": true}}, setBrief, `POST /v1/scrolls {"schedule":2}`),
		bad("stop with a property", `POST /v1/scrolls/schedule/stop {"id":"a"}`, "id"),
		{name: "templates", call: "GET /v1/scrolls/templates", want: 200, has: map[string]any{"nextCursor": nil}},
		code("estimate without workspace", `POST /v1/scrolls/estimate {}`, 409, "workspace_required"),
		after(contractCase{name: "estimate", call: `POST /v1/scrolls/estimate {"prompt":"latte art"}`, want: 200, has: map[string]any{"minUnits": 100.0, "maxUnits": 1100.0, "activeScrolls": 0.0, "maxActiveScrolls": 3.0}}, setBrief),
		bad("estimate of an unknown template", `POST /v1/scrolls/estimate {"template":"x","schedule":2}`, "template", "schedule"),
		bad("templates with a broken cursor", "GET /v1/scrolls/templates?limit=0&cursor=x", "limit", "cursor"),
		{name: "no versions of rules", call: "GET /v1/rules/versions", want: 200, has: map[string]any{"nextCursor": nil}},
		after(ok("versions of rules", "GET /v1/rules/versions?limit=100"), setBrief, setRules),
		bad("versions of rules, too many", "GET /v1/rules/versions?limit=101&cursor=x", "limit", "cursor"),
		code("preview without workspace", `POST /v1/rules/preview {"text":"- skip giveaways"}`, 409, "workspace_required"),
		after(contractCase{name: "preview of nothing", call: `POST /v1/rules/preview {"text":"- skip giveaways","sample":2000}`, want: 200, has: map[string]any{"judged": 0.0, "currentVersion": 0.0}}, setBrief),
		bad("preview out of bounds", `POST /v1/rules/preview {"sample":2001,"rules":[]}`, "text", "sample", "rules"),
		after(bad("preview of too many rules", `POST /v1/rules/preview {"text":"`+manyRules(501)+`"}`, "text"), setBrief),

		// Account.
		{name: "the account", call: "GET /v1/account", want: 200, has: map[string]any{"status": "active", "credits": 0.0, "creditsHeld": 0.0}},
		bad("the account with a parameter", "GET /v1/account?id=1", "id"),
		{name: "policy", call: "GET /v1/policy", want: 200, has: map[string]any{"eraseAfterDays": 7.0, "version": 4.0}},
		bad("policy with a parameter", "GET /v1/policy?days=1", "days"),
		bad("export with a limit", "GET /v1/account/export?limit=1", "limit"),
		{name: "no deletion to call off", call: `POST /v1/account/erase {"cancel":true}`, want: 200, has: map[string]any{"status": "none", "eraseAt": nil}},
		{name: "deletion", call: `POST /v1/account/erase {}`, want: 200, has: map[string]any{"status": "confirmation_sent", "eraseAt": nil}},
		after(code("deletion again", `POST /v1/account/erase {}`, 429, "rate_limited"), `POST /v1/account/erase {}`),
		bad("deletion with a property", `POST /v1/account/erase {"email":"a@example.com","cancel":1}`, "email", "cancel"),

		// Keys.
		{name: "keys", call: "GET /v1/api_keys?limit=100", want: 200, has: map[string]any{"nextCursor": nil}},
		bad("keys with a broken cursor", "GET /v1/api_keys?limit=101&cursor=x", "limit", "cursor"),
		ok("session key", `POST /v1/api_keys/sessions {}`),
		ok("session key at the bounds", `POST /v1/api_keys/sessions {"scopes":["usage:read"],"ttlSeconds":86400}`),
		bad("session key above the bounds", `POST /v1/api_keys/sessions {"scopes":["usage:read","all"],"ttlSeconds":86401}`, "scopes[1]", "ttlSeconds"),
		{name: "revoke of an unknown key", call: `POST /v1/api_keys/revoke {"id":"key_unknown"}`, want: 200, has: map[string]any{"found": false, "key": nil}},
		bad("revoke without id", `POST /v1/api_keys/revoke {}`, "id"),

		// Library.
		{name: "hooks of nothing", call: "GET /v1/hooks", want: 200},
		ok("hooks most", "GET /v1/hooks?limit=25&includeArchived=true"),
		bad("hooks too many", "GET /v1/hooks?limit=26", "limit"),
		bad("hooks none", "GET /v1/hooks?limit=0", "limit"),
		bad("hooks archived maybe", "GET /v1/hooks?includeArchived=maybe", "includeArchived"),
		ok("outliers", "GET /v1/outliers?limit=1&includeArchived=false&kind=own"),
		bad("outliers of a wrong kind", "GET /v1/outliers?kind=mine&limit=26", "kind", "limit"),
		{name: "trends without history", call: "GET /v1/trends", want: 200, has: map[string]any{"status": "insufficient_history", "completedScrolls": 0.0}},
		bad("trends too many", "GET /v1/trends?limit=26", "limit"),
		{name: "listed outliers", call: "GET /v1/outliers/list?limit=100&includeArchived=true&platform=tiktok&kind=own&creator=@Some.One&minViews=1000&minFollowers=1000&maxFollowers=1000000&minScore=1.5&postedAfter=1700000000000&postedBefore=1800000000000", want: 200, has: map[string]any{"nextCursor": nil}},
		{name: "listed hooks", call: "GET /v1/hooks/list?limit=100&includeArchived=true&platform=tiktok&kind=own&creator=someone&maxFollowers=5&minViews=9007199254740991", want: 200, has: map[string]any{"nextCursor": nil}},
		{name: "listed trends", call: "GET /v1/trends/list?limit=1&includeArchived=true", want: 200, has: map[string]any{"status": "insufficient_history", "nextCursor": nil}},
		bad("followers between bounds that cross", "GET /v1/library?minFollowers=10&maxFollowers=9", "minFollowers", "maxFollowers"),
		ok("followers between equal bounds", "GET /v1/library?minFollowers=10&maxFollowers=10"),
		bad("posted between bounds that cross", "GET /v1/hooks/list?postedAfter=3&postedBefore=2", "postedAfter", "postedBefore"),
		bad("posted in no time", "GET /v1/outliers/list?postedAfter=2&postedBefore=2", "postedAfter", "postedBefore"),
		bad("a platform in capitals", "GET /v1/library?platform=TikTok", "platform"),
		bad("scores of a platform in capitals", "GET /v1/outliers/scores?platform=TikTok", "platform"),
		bad("creator of a platform in capitals", "GET /v1/library/creator?platform=TikTok&handle=@x", "platform"),
		bad("followers out of bounds", "GET /v1/library?minFollowers=0&maxFollowers=x", "minFollowers", "maxFollowers"),
		bad("listed outliers out of bounds", "GET /v1/outliers/list?limit=101&minScore=1e3&minViews=-1&postedAfter=&postedBefore=0&platform=&kind=mine&cursor=x",
			"limit", "minScore", "minViews", "postedAfter", "postedBefore", "platform", "kind", "cursor"),
		bad("listed hooks by score", "GET /v1/hooks/list?minScore=-1&pageToken=x&creator=", "minScore", "pageToken", "creator"),
		{name: "listed trends with filters", call: "GET /v1/trends/list?kind=hashtag&minVideos=3&minGrowth=1.5", want: 200, has: map[string]any{"nextCursor": nil}},
		bad("listed trends with filters out of bounds", "GET /v1/trends/list?kind=tag&minVideos=0&minGrowth=-1", "kind", "minVideos", "minGrowth"),
		bad("listed trends by platform", "GET /v1/trends/list?platform=tiktok&limit=0&cursor=x", "platform", "limit", "cursor"),
		ok("library", "GET /v1/library?limit=100&platform=tiktok"),
		ok("library searched", "GET /v1/library?q=Cold%20brew%21&hashtag=%23coffee&language=en-US&annotated=true&minScore=1.5&creator=%40a&minViews=1&postedAfter=1&postedBefore=2&kind=own"),
		bad("library searched for no word", "GET /v1/library?q=%3F%21&hashtag=%23&language=--&annotated=maybe&cursor=x", "q", "hashtag", "language", "annotated", "cursor"),
		bad("library of no creator", "GET /v1/library?creator=%40", "creator"),
		bad("outliers of a blank creator", "GET /v1/outliers/list?creator=%20", "creator"),
		bad("listed hooks of many words", "GET /v1/hooks/list?q=a+b+c+d+e+f+g+h+i+j+k", "q"),
		bad("library with a broken cursor", "GET /v1/library?cursor=x", "cursor"),
		{name: "archive without workspace", call: `POST /v1/library/archive {"videoId":"vid_x","archived":true}`, want: 200, has: map[string]any{"outcome": "workspace_required"}},
		after(contractCase{name: "archive of an unknown video", call: `POST /v1/library/archive {"videoId":"vid_x","scope":"hook","archived":false}`, want: 200, has: map[string]any{"outcome": "not_found"}}, setBrief),
		{name: "deletion of an unknown video", call: `POST /v1/library/delete {"videoId":"vid_x"}`, want: 200, has: map[string]any{"outcome": "not_found"}},
		{name: "dry run of a deletion of an unknown creator", call: `POST /v1/library/delete {"platform":"tiktok","creator":"@moka","dryRun":true}`, want: 200, has: map[string]any{"outcome": "not_found", "videos": 0.0}},
		{name: "deletion of an unknown import", call: `POST /v1/library/delete {"importId":"imp_x"}`, want: 200, has: map[string]any{"outcome": "not_found"}},
		{name: "deletion of a creator to come", call: `POST /v1/library/delete {"platform":"tiktok","creatorId":"12"}`, want: 200, has: map[string]any{"outcome": "deleted", "videos": 0.0}},
		bad("deletion without anything to delete", `POST /v1/library/delete {}`, "videoId"),
		bad("deletion of two things", `POST /v1/library/delete {"videoId":"vid_x","sourceId":"feed"}`, "videoId"),
		bad("deletion of a creator without a platform", `POST /v1/library/delete {"creator":"moka"}`, "platform"),
		bad("deletion of a video with a platform", `POST /v1/library/delete {"videoId":"vid_x","platform":"tiktok"}`, "platform"),
		{name: "undo of an unknown deletion", call: `POST /v1/library/undelete {"id":"del_x"}`, want: 200, has: map[string]any{"found": false}},
		bad("undo without a deletion", `POST /v1/library/undelete {}`, "id"),
		{name: "deletions of a new library", call: `GET /v1/library/deletions`, want: 200, has: map[string]any{"scoresPending": false, "nextCursor": nil}},
		bad("deletions with a bad cursor", `GET /v1/library/deletions?cursor=x&limit=5`, "cursor"),
		bad("collection without a name", `POST /v1/collections/create {}`, "name"),
		bad("collection with a name too long", `POST /v1/collections/create {"name":`+quoted(101)+`,"note":`+quoted(2001)+`}`, "name", "note"),
		ok("collection with the longest name", `POST /v1/collections/create {"name":`+quoted(100)+`,"note":`+quoted(2000)+`}`),
		after(contractCase{name: "collection of a taken name", call: `POST /v1/collections/create {"name":"a"}`, want: 200, has: map[string]any{"outcome": "existing"}}, `POST /v1/collections/create {"name":"a"}`),
		{name: "collections of a new account", call: `GET /v1/collections/list`, want: 200, has: map[string]any{"nextCursor": nil}},
		bad("collections with a bad cursor", `GET /v1/collections/list?cursor=x&limit=5`, "cursor"),
		bad("collections beyond their limit", `GET /v1/collections/list?limit=101`, "limit"),
		{name: "an unknown collection", call: `GET /v1/collections?id=col_x`, want: 200, has: map[string]any{"found": false, "collection": nil, "nextCursor": nil}},
		bad("a collection without its id", `GET /v1/collections?limit=101&cursor=x`, "id", "limit", "cursor"),
		{name: "change of an unknown collection", call: `POST /v1/collections/update {"id":"col_x","name":"b"}`, want: 200, has: map[string]any{"found": false}},
		bad("change to no name", `POST /v1/collections/update {"id":"col_x","name":""}`, "name"),
		{name: "add to an unknown collection", call: `POST /v1/collections/add {"id":"col_x","videoIds":["vid_x"]}`, want: 200, has: map[string]any{"found": false}},
		bad("add nothing", `POST /v1/collections/add {"id":"col_x","videoIds":[]}`, "videoIds"),
		bad("add too many", `POST /v1/collections/add {"id":"col_x","videoIds":`+listOf(101, `"vid_x"`)+`,"note":`+quoted(1001)+`}`, "videoIds", "note"),
		{name: "remove from an unknown collection", call: `POST /v1/collections/remove {"id":"col_x","videoIds":["vid_x"]}`, want: 200, has: map[string]any{"found": false}},
		bad("remove without a collection", `POST /v1/collections/remove {"videoIds":["vid_x"]}`, "id"),
		{name: "move in an unknown collection", call: `POST /v1/collections/move {"id":"col_x","videoId":"vid_x","after":"vid_y"}`, want: 200, has: map[string]any{"found": false}},
		bad("move to no place", `POST /v1/collections/move {"id":"col_x","videoId":"vid_x"}`, "before"),
		bad("move to two places", `POST /v1/collections/move {"id":"col_x","videoId":"vid_x","before":"vid_y","after":"vid_z"}`, "before"),
		{name: "delete an unknown collection", call: `POST /v1/collections/delete {"id":"col_x"}`, want: 200, has: map[string]any{"found": false}},
		bad("delete no collection", `POST /v1/collections/delete {}`, "id"),
		after(bad("brief of an unknown collection", `POST /v1/briefs {"collectionId":"col_x"}`, "collectionId"), setBrief),
		bad("share of nothing", `POST /v1/shares/create {}`, "kind", "title"),
		bad("share of a video without its id", `POST /v1/shares/create {"kind":"video","title":"a"}`, "id"),
		bad("share of a brief without sentences", `POST /v1/shares/create {"kind":"brief","id":"vid_x","title":"a"}`, "id", "sentences"),
		bad("share with texts too long", `POST /v1/shares/create {"kind":"finding","title":`+quoted(201)+`,"sentences":[`+quoted(1001)+`]}`, "title", "sentences[0]"),
		bad("share that has ended", `POST /v1/shares/create {"kind":"finding","title":"a","sentences":["b"],"expiresAt":1}`, "expiresAt"),
		{name: "share of an unknown video", call: `POST /v1/shares/create {"kind":"video","id":"vid_x","title":"a"}`, want: 200, has: map[string]any{"found": false, "share": nil}},
		{name: "share of a report", call: `POST /v1/shares/create {"kind":"report","title":"a","sentences":["b"]}`, want: 200, has: map[string]any{"found": true}},
		bad("share of a report with an id", `POST /v1/shares/create {"kind":"report","title":"a","id":"col_a","sentences":["b"]}`, "id"),
		{name: "share of a finding", call: `POST /v1/shares/create {"kind":"finding","title":"a","sentences":["b"]}`, want: 200, has: map[string]any{"found": true}},
		{name: "shares of a new account", call: `GET /v1/shares/list`, want: 200, has: map[string]any{"nextCursor": nil}},
		bad("shares with a bad cursor", `GET /v1/shares/list?cursor=x&limit=101`, "cursor", "limit"),
		{name: "revoke an unknown share", call: `POST /v1/shares/revoke {"id":"shr_x"}`, want: 200, has: map[string]any{"found": false}},
		bad("revoke no share", `POST /v1/shares/revoke {}`, "id"),
		bad("archive without fields", `POST /v1/library/archive {}`, "videoId", "archived"),
		bad("archive of a wrong scope", `POST /v1/library/archive {"videoId":"","scope":"all","archived":"true"}`, "videoId", "scope", "archived"),
		{name: "annotate without workspace", call: `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":{}}`, want: 200, has: map[string]any{"outcome": "workspace_required"}},
		after(contractCase{name: "annotate null", call: `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":null}`, want: 200, has: map[string]any{"outcome": "not_found"}}, setBrief),
		after(ok("annotate most", `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":`+annotations(50)+`}`), setBrief),
		bad("annotate too many", `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":`+annotations(51)+`}`, "agentMetadata"),
		bad("annotate without metadata", `POST /v1/library/annotate {"videoId":"vid_x"}`, "agentMetadata"),
		bad("annotate with long values", `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":{"a":`+quoted(501)+`,"note":["x","y",`+quoted(501)+`]}}`, "agentMetadata.a", "agentMetadata.note[2]"),
		bad("annotate with a number", `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":{"a":1}}`, "agentMetadata.a"),
		bad("annotate with a long list", `POST /v1/library/annotate {"videoId":"vid_x","agentMetadata":{"a":`+listOf(21, `"x"`)+`}}`, "agentMetadata.a"),
		{name: "video unknown", call: "GET /v1/library/video?id=vid_x", want: 200, has: map[string]any{"found": false, "video": nil, "outlier": nil, "hook": nil, "early": nil}},
		bad("video without id", "GET /v1/library/video?videoId=vid_x", "id", "videoId"),
		ok("videos unknown", "GET /v1/library/videos?ids=vid_x,no,vid_x"),
		ok("videos most", "GET /v1/library/videos?ids=x"+strings.Repeat(",x", 49)),
		bad("videos too many", "GET /v1/library/videos?ids=x"+strings.Repeat(",x", 50), "ids"),
		bad("videos without ids", "GET /v1/library/videos", "ids"),
		bad("videos of bad ids", "GET /v1/library/videos?ids=vid_x,,"+strings.Repeat("x", 101), "ids[1]", "ids[2]"),
		onREST(bad("videos asked for twice", "GET /v1/library/videos?ids=vid_x&ids=vid_y", "ids")),
		{name: "readings of an unknown video", call: "GET /v1/library/observations?videoId=vid_x&limit=100", want: 200, has: map[string]any{"nextCursor": nil}},
		{name: "frames of an unknown video", call: "GET /v1/library/frames?videoId=vid_x", want: 200},
		bad("frames of nothing", "GET /v1/library/frames", "videoId"),
		bad("readings out of bounds", "GET /v1/library/observations?limit=101&cursor=x", "videoId", "limit", "cursor"),
		{name: "explanation of an unknown video", call: "GET /v1/outliers/explain?videoId=vid_x", want: 200, has: map[string]any{"found": false, "explanation": nil}},
		bad("explanation of no video", "GET /v1/outliers/explain?videoId=&id=x", "videoId", "id"),
		{name: "explanation of an unknown key", call: "GET /v1/trends/explain?key=hashtag:x", want: 200, has: map[string]any{"found": false, "explanation": nil}},
		bad("explanation of no key", "GET /v1/trends/explain", "key"),
		{name: "scores of nothing", call: "GET /v1/outliers/scores?limit=5000&kind=own&platform=tiktok&includeArchived=true", want: 200, has: map[string]any{"videos": 0.0}},
		bad("scores out of bounds", "GET /v1/outliers/scores?limit=5001&kind=mine", "limit", "kind"),
		{name: "series of an unknown key", call: "GET /v1/trends/series?key=hashtag:x", want: 200, has: map[string]any{"found": false, "key": "hashtag:x"}},
		bad("series of no key", "GET /v1/trends/series?key=", "key"),
		ok("backtest of nothing", "GET /v1/outliers/backtest?scrollId=scr_x"),
		{name: "trends backtest of nothing", call: "GET /v1/trends/backtest?days=28", want: 200, has: map[string]any{"days": 28.0, "newCreators": 2.0}},
		bad("trends backtest of no days", "GET /v1/trends/backtest?days=0&limit=1", "days", "limit"),
		{name: "creator of an unknown video", call: "GET /v1/library/creator?videoId=vid_x", want: 200, has: map[string]any{"found": false, "creator": nil}},
		{name: "creator of an unknown handle", call: "GET /v1/library/creator?platform=tiktok&handle=@x", want: 200, has: map[string]any{"found": false, "creator": nil}},
		bad("creator of nothing", "GET /v1/library/creator", "platform", "handle"),
		bad("creator in two ways", "GET /v1/library/creator?videoId=vid_x&platform=tiktok&handle=x", "platform", "handle"),
		bad("creator of half a name", "GET /v1/library/creator?handle=x&id=y", "platform", "id"),
		bad("backtest of an empty scroll", "GET /v1/outliers/backtest?scrollId=&limit=3", "scrollId", "limit"),

		bad("schedule with a query", "GET /v1/scrolls/schedule?id=1", "id"),
		bad("workspace with a query", "GET /v1/workspace?id=1", "id"),
		bad("usage with a query", "GET /v1/usage?limit=1", "limit"),
		bad("rules with a query", "GET /v1/rules?version=1", "version"),

		// Older endpoints.
		bad("top-up of nothing", `POST /v1/topup {}`, "amountCents"),
		bad("top-up too small", `POST /v1/topup {"amountCents":99}`, "amountCents"),
		bad("top-up too large", `POST /v1/topup {"amountCents":1000001}`, "amountCents"),
		{name: "top-up", call: `POST /v1/topup {"amountCents":100}`, want: 200},
		{name: "top-up of an unknown checkout", call: `POST /v1/topup/confirm {"sessionId":"cs_none"}`, want: 200, has: map[string]any{"status": "invalid_session"}},
		bad("top-up of no checkout", `POST /v1/topup/confirm {}`, "sessionId"),
		bad("top-up of a name too long", `POST /v1/topup/confirm {"sessionId":`+quoted(256)+`}`, "sessionId"),
		ok("sign-up", `POST /v1/signup {}`),
		bad("sign-up too large", `POST /v1/signup {"amountCents":1000001}`, "amountCents"),
		{name: "sign-up claimed by an unknown token", call: "POST /v1/signup/claim " + token(16), want: 200, has: map[string]any{"status": "invalid_token"}},
		bad("sign-up claimed by a token too short", "POST /v1/signup/claim "+token(15), "claimToken"),
		bad("brief about nothing", `POST /v1/briefs {"focus":""}`, "focus"),
		bad("agent without a goal", `POST /v1/agent {}`, "goal"),
		bad("sandbox file without path", `PUT /v1/sandbox/files {"data":""}`, "path"),
		{name: "sandbox file", call: `PUT /v1/sandbox/files {"path":"notes/a.js","data":"print(1)"}`, want: 200, has: map[string]any{"path": "notes/a.js"}},
		ok("empty sandbox file", `PUT /v1/sandbox/files {"path":"a","data":""}`),
		bad("sandbox file outside", `PUT /v1/sandbox/files {"path":"../a","data":""}`, "path"),
		bad("sandbox file, absolute and too long", `PUT /v1/sandbox/files {"path":"/a","data":`+quoted(1<<19+1)+`}`, "path", "data"),
		after(bad("sandbox file below a file", `PUT /v1/sandbox/files {"path":"a/b","data":""}`, "path"), `PUT /v1/sandbox/files {"path":"a","data":""}`),
	}...)
}

// firstPages calls each list with an empty cursor, which is its first page.
func firstPages() (cases []contractCase) {
	needed := map[string]string{"ListObservations": "&videoId=vid_x", "GetCollection": "&id=col_x", "ListDeliveries": "&id=whk_x"}
	for call, method := range restMethods() {
		token := method.Input().Fields().ByName("page_token")
		if token == nil || method.IsStreamingServer() || proto.GetExtension(token.Options(), scrolleryv1.E_RestName) != "cursor" {
			continue
		}
		name := string(method.Name())
		cases = append(cases, contractCase{name: name + " from an empty cursor", call: call + "?cursor=" + needed[name], want: 200})
	}
	return cases
}

// TestEveryOperationHasCases holds the contract's cases against the operations: each is
// called once as it should be, and once against its bounds.
func TestEveryOperationHasCases(t *testing.T) {
	t.Parallel()
	type calls struct{ Accepted, Refused bool }
	// Their answers are a stream, a zip, and what costs credits.
	acceptedElsewhere := map[string]string{
		"CreateImport": "TestCustomersImport", "PreviewImport": "TestCustomersImport",
		"WatchScroll": "TestAScrollIsWatchedOnREST", "ExportAccount": "TestExportComesBack", "RunAgent": "TestAgentForCredits", "DraftBrief": "TestBriefsCite",
	}
	made := map[string]calls{}
	for _, c := range contractCases() {
		verb, rest, _ := strings.Cut(c.call, " ")
		address, _, _ := strings.Cut(rest, " ")
		path, _, _ := strings.Cut(address, "?")
		had := made[verb+" "+path]
		made[verb+" "+path] = calls{had.Accepted || c.code == "", had.Refused || c.code == "invalid_request"}
	}
	for call, method := range restMethods() {
		name := string(method.Name())
		t.Run(name, func(t *testing.T) {
			got := made[call]
			got.Accepted = got.Accepted || acceptedElsewhere[name] != ""
			if diff := cmp.Diff(calls{true, true}, got); diff != "" {
				t.Errorf("cases of %s, want - got +:\n%s", call, diff)
			}
		})
	}
}

func TestContractOnREST(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	document := openAPI(t, running)
	for _, c := range contractCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			account := running.Account(t, "pro")
			for _, given := range c.given {
				if answer := account.Do(t, given, ""); answer.Status >= 300 {
					t.Fatalf("%s answered %d, want less than 300: %s", given, answer.Status, answer.Body)
				}
			}
			caller := account
			if c.anonymous {
				caller = running.Anonymous()
			}
			answer := caller.Do(t, c.call, c.header)
			if answer.Status != c.want {
				t.Fatalf("status %d, want %d: %s", answer.Status, c.want, answer.Body)
			}
			isDescribed(t, document, answer)
			if answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("RateLimit") == "" {
				t.Errorf("got headers %v, want X-Request-Id and RateLimit among them", answer.Header)
			}
			if c.code != "" {
				answer.WantError(t, c.code)
			}
			if c.paths != nil {
				got := answer.IssuePaths(t)
				want := slices.Sorted(slices.Values(c.paths))
				if !slices.Equal(got, want) {
					t.Errorf("issues at %q, want %q: %s", got, want, answer.Body)
				}
			}
			for member, value := range c.has {
				if got, found := answer.JSON(t)[member]; !found || got != value {
					t.Errorf("%s is %v, want %v: %s", member, got, value, answer.Body)
				}
			}
			if c.want == http.StatusMethodNotAllowed && answer.Header.Get("Allow") == "" {
				t.Error("got 405 without an Allow header, want the allowed methods")
			}
		})
	}
}
