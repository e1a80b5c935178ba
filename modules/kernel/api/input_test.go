package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// paths lists the issues' paths of a refusal, in order.
func paths(t *testing.T, r reply) []string {
	t.Helper()
	list, _ := r.json(t)["issues"].([]any)
	var out []string
	for _, issue := range list {
		out = append(out, issue.(map[string]any)["path"].(string))
	}
	slices.Sort(out)
	return out
}

func text(n int) string { return strings.Repeat("é", n) }

// TestTimesAreTakenAsTheyCome: as text or as milliseconds, in a query and in JSON alike.
func TestTimesAreTakenAsTheyCome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const seconds, noTime = "must be in milliseconds; these seconds are 1752419109000", "must be a time: Unix milliseconds as 1752419109000, or RFC 3339 as 2025-07-13T15:05:09Z"
	for _, c := range []struct {
		name, query, json, want string
	}{
		{"milliseconds", "1752419109000", "1752419109000", ""},
		{"RFC 3339", "2025-07-13T15:05:09Z", `"2025-07-13T15:05:09Z"`, ""},
		{"a day", "2025-07-13", `"2025-07-13"`, ""},
		{"seconds", "1752419109", "1752419109", seconds},
		{"no time", "soon", `"soon"`, noTime},
		{"a number in quotes", "", `"1752419109000"`, noTime},
		{"true", "true", "true", noTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.query != "" {
				wantIssue(t, b.call(t, "GET", "/v1/changes?since="+c.query, "good", ""), "since", c.want)
			}
			wantIssue(t, b.call(t, "POST", "/v1/imports/text", "good", `{"text":"x","observedAt":`+c.json+`}`), "observedAt", c.want)
		})
	}
	wantIssue(t, b.call(t, "GET", "/v1/library?minViews=many", "good", ""), "minViews", "must be a number from 0 to 9007199254740991")
}

// wantIssue expects a message for a path, or none.
func wantIssue(t *testing.T, answer reply, path, want string) {
	t.Helper()
	list, _ := answer.json(t)["issues"].([]any)
	got := ""
	for _, issue := range list {
		if one := issue.(map[string]any); one["path"] == path {
			got = one["message"].(string)
		}
	}
	if got != want {
		t.Errorf("%s: got %q, want %q: %d %s", path, got, want, answer.status, answer.body)
	}
}

func TestInputIsStrict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := []struct {
		name, method, path, body string
		issues                   []string // nil: accepted
	}{
		{"an empty object", "PUT", "/v1/workspace", `{}`, nil},
		{"white space around", "PUT", "/v1/workspace", " \n{ \"name\" : \"a\" }\t\n", nil},
		{"no body", "PUT", "/v1/workspace", "", []string{""}},
		{"white space only", "PUT", "/v1/workspace", "  ", []string{""}},
		{"an array", "PUT", "/v1/workspace", `[]`, []string{""}},
		{"null", "PUT", "/v1/workspace", `null`, []string{""}},
		{"a byte order mark", "PUT", "/v1/workspace", "\uFEFF{}", []string{""}},
		{"cut off", "PUT", "/v1/workspace", `{"name":"a"`, []string{""}},
		{"cut off in a string", "PUT", "/v1/workspace", `{"name":"a`, []string{""}},
		{"not JSON", "PUT", "/v1/workspace", `{name:1}`, []string{""}},
		{"comma at the end", "PUT", "/v1/workspace", `{"name":"a",}`, []string{""}},
		{"a second value", "PUT", "/v1/workspace", `{"name":"a"}{}`, []string{""}},
		{"garbage after", "PUT", "/v1/workspace", `{"name":"a"}x`, []string{""}},
		{"faults before bad syntax are kept", "PUT", "/v1/workspace", `{"nme":1,"name":2,`, []string{"", "name", "nme"}},
		{"unknown", "PUT", "/v1/workspace", `{"nme":"a"}`, []string{"nme"}},
		{"proto name", "PUT", "/v1/workspace", `{"app_store_url":"a"}`, []string{"app_store_url"}},
		{"wrong case", "PUT", "/v1/workspace", `{"Name":"a"}`, []string{"Name"}},
		{"repeated", "PUT", "/v1/workspace", `{"name":"a","name":"a"}`, []string{"name"}},
		{"repeated in an escape", "PUT", "/v1/workspace", `{"name":"a","n\u0061me":"a"}`, []string{"name"}},
		{"a field of the other protocols", "PUT", "/v1/workspace", `{"clearCompetitors":true}`, []string{"clearCompetitors"}},
		{"null for optional", "PUT", "/v1/workspace", `{"name":null}`, []string{"name"}},
		{"null for a list", "PUT", "/v1/workspace", `{"competitors":null}`, []string{"competitors"}},
		{"number for text", "PUT", "/v1/workspace", `{"name":1}`, []string{"name"}},
		{"object for text", "PUT", "/v1/workspace", `{"name":{"a":[1]}}`, []string{"name"}},
		{"text for bool", "PUT", "/v1/workspace", `{"archivePriorSubject":"true"}`, []string{"archivePriorSubject"}},
		{"number for bool", "PUT", "/v1/workspace", `{"archivePriorSubject":1}`, []string{"archivePriorSubject"}},
		{"item of the wrong type keeps the places", "PUT", "/v1/workspace", `{"competitors":["a",1,""]}`, []string{"competitors[1]", "competitors[2]"}},
		{"lone surrogate", "PUT", "/v1/workspace", `{"name":"\ud800"}`, []string{"name"}},
		{"reversed surrogates", "PUT", "/v1/workspace", `{"name":"\udc00\ud800"}`, []string{"name"}},
		{"a pair", "PUT", "/v1/workspace", `{"name":"\ud83d\ude00"}`, nil},
		{"not UTF-8", "PUT", "/v1/workspace", "{\"name\":\"\xff\"}", []string{"name"}},
		{"lone surrogate in a name", "PUT", "/v1/workspace", `{"na\ud800me":"a"}`, []string{"na\ufffdme"}},
		{"NUL", "PUT", "/v1/workspace", `{"name":"a\u0000"}`, []string{"name"}},
		{"NUL in an item", "PUT", "/v1/workspace", `{"competitors":["a","\u0000"]}`, []string{"competitors[1]"}},
		{"all at once", "PUT", "/v1/workspace", `{"x":1,"name":"","website":2,"competitors":["",null]}`, []string{"competitors[0]", "competitors[1]", "name", "website", "x"}},
		{"name of 1", "PUT", "/v1/workspace", `{"name":"a"}`, nil},
		{"name of 200 code points", "PUT", "/v1/workspace", `{"name":"` + text(200) + `"}`, nil},
		{"name of 201", "PUT", "/v1/workspace", `{"name":"` + text(201) + `"}`, []string{"name"}},
		{"description of 20000", "PUT", "/v1/workspace", `{"description":"` + text(20000) + `"}`, nil},
		{"description of 20001", "PUT", "/v1/workspace", `{"description":"` + text(20001) + `"}`, []string{"description"}},
		{"20 competitors", "PUT", "/v1/workspace", `{"competitors":["a"` + strings.Repeat(`,"a"`, 19) + `]}`, nil},
		{"21 competitors", "PUT", "/v1/workspace", `{"competitors":["a"` + strings.Repeat(`,"a"`, 20) + `]}`, []string{"competitors"}},
		{"query on PUT", "PUT", "/v1/workspace?name=a", `{"nme":"a"}`, []string{"name", "nme"}},
		{"quoted number", "POST", "/v1/scrolls", `{"schedule":"1"}`, []string{"schedule"}},
		{"fraction", "POST", "/v1/scrolls", `{"schedule":1.5}`, []string{"schedule"}},
		{"beyond 32 bits", "POST", "/v1/scrolls", `{"schedule":4294967297}`, []string{"schedule"}},
		{"huge", "POST", "/v1/scrolls", `{"schedule":1e999}`, []string{"schedule"}},
		{"whole in another spelling", "POST", "/v1/scrolls", `{"schedule":1.0}`, nil},
		{"schedule 0", "POST", "/v1/scrolls", `{"schedule":0}`, []string{"schedule"}},
		{"schedule 7", "POST", "/v1/scrolls", `{"schedule":7}`, nil},
		{"schedule 8", "POST", "/v1/scrolls", `{"schedule":8}`, []string{"schedule"}},
		{"required ones missing", "POST", "/v1/library/archive", `{}`, []string{"archived", "videoId"}},
		{"required false is there", "POST", "/v1/library/archive", `{"videoId":"v","archived":false}`, nil},
		{"required null", "POST", "/v1/library/archive", `{"videoId":"v","archived":null}`, []string{"archived"}},
		{"not in the set", "POST", "/v1/library/archive", `{"videoId":"v","archived":true,"scope":"all"}`, []string{"scope"}},
		{"a good token", "POST", "/v1/subscribe/claim", `{"claimToken":"claim_0123456789abcdef"}`, nil},
		{"a short token", "POST", "/v1/subscribe/claim", `{"claimToken":"claim_0123456789abcde"}`, []string{"claimToken"}},
		{"a token and a line", "POST", "/v1/subscribe/claim", `{"claimToken":"claim_0123456789abcdef\n"}`, []string{"claimToken"}},
		{"an address", "POST", "/v1/api_keys/recover", `{"email":"a@example.com"}`, nil},
		{"no address", "POST", "/v1/api_keys/recover", `{"email":"a"}`, []string{"email"}},
		{"limit 1", "GET", "/v1/hooks?limit=1", "", nil},
		{"limit 25", "GET", "/v1/hooks?limit=25", "", nil},
		{"limit 0", "GET", "/v1/hooks?limit=0", "", []string{"limit"}},
		{"limit 26", "GET", "/v1/hooks?limit=26", "", []string{"limit"}},
		{"limit 100 of events", "GET", "/v1/events?limit=100", "", nil},
		{"limit 101 of events", "GET", "/v1/events?limit=101", "", []string{"limit"}},
		{"limit with a sign", "GET", "/v1/hooks?limit=%2B5", "", []string{"limit"}},
		{"limit with a zero", "GET", "/v1/hooks?limit=05", "", []string{"limit"}},
		{"limit without value", "GET", "/v1/hooks?limit", "", []string{"limit"}},
		{"limit as a fraction", "GET", "/v1/hooks?limit=5.0", "", []string{"limit"}},
		{"limit twice", "GET", "/v1/hooks?limit=5&limit=5", "", []string{"limit"}},
		{"unknown parameter", "GET", "/v1/hooks?page=5&limit=99", "", []string{"limit", "page"}},
		{"a parameter of the other protocols", "GET", "/v1/hooks?pageToken=x", "", []string{"pageToken"}},
		{"a parameter where none is", "GET", "/v1/health?x=1", "", []string{"x"}},
		{"includeArchived", "GET", "/v1/hooks?includeArchived=true", "", nil},
		{"includeArchived in capitals", "GET", "/v1/hooks?includeArchived=TRUE", "", []string{"includeArchived"}},
		{"includeArchived as a number", "GET", "/v1/hooks?includeArchived=1", "", []string{"includeArchived"}},
		{"kind", "GET", "/v1/outliers?kind=niche", "", nil},
		{"unknown kind", "GET", "/v1/outliers?kind=all", "", []string{"kind"}},
		{"id missing", "GET", "/v1/scrolls", "", []string{"id"}},
		{"id empty", "GET", "/v1/scrolls?id=", "", []string{"id"}},
		{"id with NUL", "GET", "/v1/scrolls?id=a%00", "", []string{"id"}},
		{"broken escape", "GET", "/v1/scrolls?id=%zz", "", []string{"id"}},
		{"GET with a body", "GET", "/v1/health", `{}`, []string{""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := b.call(t, c.method, c.path, "good", c.body, "Content-Type", "application/json")
			if c.issues == nil {
				if got.status >= 400 {
					t.Errorf("refused: %s, want less than 400", got.body)
				}
				return
			}
			check(t, "status", http.StatusBadRequest, got.status)
			check(t, "error", any("invalid_request"), got.json(t)["error"])
			check(t, "paths of the issues", c.issues, paths(t, got))
		})
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for contentType, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON;charset=\"UTF-8\"": 200,
		"": 400, "text/plain": 400, "application/json; charset=latin1": 400, "application/jsonx": 400,
		"application/x-www-form-urlencoded": 400, "application/problem+json": 400, "application/json;": 200,
	} {
		got := b.call(t, "PUT", "/v1/workspace", "good", `{}`, "Content-Type", contentType)
		check(t, fmt.Sprintf("status of %q", contentType), status, got.status)
	}
	compressed := b.call(t, "PUT", "/v1/workspace", "good", `{}`, "Content-Encoding", "gzip")
	check(t, "status of a compressed body", 400, compressed.status)
}

func TestBodySize(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := func(bytes int) string {
		empty := `{"path":"a","data":""}`
		return `{"path":"a","data":"` + strings.Repeat("x", bytes-len(empty)) + `"}`
	}
	for _, c := range []struct {
		path   string
		bytes  int
		status int
		issues []string
	}{
		{"/v1/sandbox/files", 8 << 20, 200, nil},
		{"/v1/sandbox/files", 8<<20 + 1, 400, []string{""}},
		{"/v1/rules", 1 << 20, 400, []string{"data", "path", "text"}},
		{"/v1/rules", 1<<20 + 1, 400, []string{""}},
	} {
		got := b.call(t, "PUT", c.path, "good", body(c.bytes))
		what := fmt.Sprintf("%s with %d bytes: ", c.path, c.bytes)
		check(t, what+"status", c.status, got.status)
		check(t, what+"paths of the issues", c.issues, paths(t, got))
	}
}

// TestRefusedBodiesAreReadOn: a client that sends its whole body before it reads has the
// answer, and not a broken connection; one that sends without end is cut off.
func TestRefusedBodiesAreReadOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const endless = 64 << 20
	for name, c := range map[string]struct {
		headers string
		size    int
		want    string
	}{
		"too large":     {"Authorization: Bearer good\r\nContent-Length: 9437184\r\n", 9 << 20, "HTTP/1.1 400 Bad Request"},
		"in chunks":     {"Authorization: Bearer good\r\nTransfer-Encoding: chunked\r\n", 9 << 20, "HTTP/1.1 400 Bad Request"},
		"without a key": {"Content-Length: 9437184\r\n", 9 << 20, "HTTP/1.1 401 Unauthorized"},
		"without end":   {"Content-Length: 67108864\r\n", endless, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection, err := net.Dial("tcp", b.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close() //nolint:errcheck // a test
			if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			body := bytes.Repeat([]byte("x"), c.size)
			if strings.Contains(c.headers, "chunked") {
				body = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", c.size, body)
			}
			_, err = fmt.Fprintf(connection, "PUT /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n", c.headers)
			if err == nil {
				_, err = connection.Write(body)
			}
			if c.size == endless {
				if err == nil {
					t.Error("64 MiB were read, want the connection to end")
				}
				return
			}
			if err != nil {
				t.Fatalf("send: got %v, want the whole body to be taken", err)
			}
			line, err := bufio.NewReader(connection).ReadString('\n')
			if err != nil || strings.TrimSpace(line) != c.want {
				t.Errorf("answer %q, error %v, want %q", line, err, c.want)
			}
		})
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var body strings.Builder
	for i := range 150 {
		fmt.Fprintf(&body, `,"x%d":1`, i)
	}
	got := b.call(t, "PUT", "/v1/workspace", "good", "{"+body.String()[1:]+"}")
	check(t, "listed issues", 101, len(paths(t, got)))
	check(t, "the other 50 are counted", true, strings.Contains(got.body, "50 more"))
	long := b.call(t, "PUT", "/v1/workspace", "good", `{"`+text(1000)+`":1}`)
	check(t, "path of a long name", []string{text(256) + "…"}, paths(t, long))
}

func TestEmptyListSetsItsFlag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, cleared := range map[string]bool{`{}`: false, `{"competitors":[]}`: true, `{"competitors":["a"]}`: false} {
		t.Run(body, func(t *testing.T) {
			b.call(t, "PUT", "/v1/workspace", "good", body)
			if got := b.fake.last(t).(*scrolleryv1.UpdateWorkspaceRequest); got.GetClearCompetitors() != cleared {
				t.Errorf("%s, want %v: %v", body, cleared, got)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	keys := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `,"k%d":"v"`, i)
		}
		return "{" + s.String()[1:] + "}"
	}
	items := func(n int) string { return `{"a":["x"` + strings.Repeat(`,"x"`, n-1) + `]}` }
	b := setup(t)
	for _, c := range []struct {
		name, value string
		issues      []string
	}{
		{"null", `null`, nil},
		{"empty", `{}`, nil},
		{"texts and lists", `{"note":"a","tags":["a","b"],"none":[]}`, nil},
		{"a list", `[]`, []string{"agentMetadata"}},
		{"a text", `"a"`, []string{"agentMetadata"}},
		{"50 keys", keys(50), nil},
		{"51 keys", keys(51), []string{"agentMetadata"}},
		{"name of 100", `{"` + text(100) + `":"a"}`, nil},
		{"name of 101", `{"` + text(101) + `":"a"}`, []string{"agentMetadata." + text(101)}},
		{"name of 0", `{"":"a"}`, []string{"agentMetadata."}},
		{"text of 500", `{"a":"` + text(500) + `"}`, nil},
		{"text of 501", `{"a":"` + text(501) + `"}`, []string{"agentMetadata.a"}},
		{"20 items", items(20), nil},
		{"21 items", items(21), []string{"agentMetadata.a"}},
		{"item of 501", `{"note":["a","b","` + text(501) + `"]}`, []string{"agentMetadata.note[2]"}},
		{"a number", `{"a":1}`, []string{"agentMetadata.a"}},
		{"null inside", `{"a":null}`, []string{"agentMetadata.a"}},
		{"an object inside", `{"a":{"b":"c"}}`, []string{"agentMetadata.a"}},
		{"a list in a list", `{"a":["x",["y"]]}`, []string{"agentMetadata.a[1]"}},
		{"repeated key", `{"a":"x","a":"y"}`, []string{"agentMetadata.a"}},
		{"lone surrogate", `{"a":["\ud800"]}`, []string{"agentMetadata.a[0]"}},
		{"NUL in a key", `{"a\u0000":"x"}`, []string{"agentMetadata.a\x00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.call(t, "POST", "/v1/library/annotate", "good", `{"videoId":"v","agentMetadata":`+c.value+`}`)
			if c.issues == nil {
				check(t, "status", 200, got.status)
				check(t, "raw text", c.value, string(b.fake.raw))
				return
			}
			check(t, "status", 400, got.status)
			check(t, "paths of the issues", c.issues, paths(t, got))
		})
	}
	missing := b.call(t, "POST", "/v1/library/annotate", "good", `{"videoId":"v"}`)
	check(t, "paths without agentMetadata", []string{"agentMetadata"}, paths(t, missing))
	b.call(t, "POST", "/v1/library/annotate", "good", `{"videoId":"v","agentMetadata": { "b" : "<\u00e9>" , "a":"1" } }`)
	check(t, "raw text", `{"b":"<\u00e9>","a":"1"}`, string(b.fake.raw))
}
