package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

const testKey = "sk-the-operators-own"

// oracle is a chat endpoint that checks what it is sent, and answers as scripted.
type oracle struct {
	t *testing.T
	// answer is the content of the answer, or a status: "429".
	answer func(number int, q question) string
	// after decorates a whole answer; nil leaves it as it is.
	finish string

	mu    sync.Mutex
	asked []question
	calls int
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	q := o.check(r, raw)
	o.mu.Lock()
	o.calls++
	number := o.calls
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	content := o.answer(number, q)
	if status, err := strconv.Atoi(content); err == nil {
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"the key sk-the-operators-own is not liked"}}`)
		return
	}
	switch content {
	case "hang up":
		panic(http.ErrAbortHandler)
	case "hang":
		<-r.Context().Done()
		return
	case "garbage":
		fmt.Fprint(w, "<html>not what you want")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	finish := "stop"
	if o.finish != "" {
		finish = o.finish
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "c", "object": "chat.completion", "usage": map[string]any{"total_tokens": 100},
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": content}}},
	})
}

// check reports requests in which creators' text is anywhere but in its place.
func (o *oracle) check(r *http.Request, raw []byte) (q question) {
	var body struct {
		Model    string
		Messages []struct{ Role, Content string }
		Tools    []any
		Format   struct {
			Type   string
			Schema struct {
				Strict bool
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+testKey {
		o.t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		o.t.Errorf("%v in %s", err, raw)
	}
	if body.Model != "judge-1" || len(body.Tools) > 0 || body.Format.Type != "json_schema" || !body.Format.Schema.Strict {
		o.t.Errorf("asked %s", raw)
	}
	if len(body.Messages) != 2 || body.Messages[0].Role != "system" || body.Messages[0].Content != instructions || body.Messages[1].Role != "user" {
		o.t.Fatalf("messages: %s", raw)
	}
	text := body.Messages[1].Content
	for _, r := range text {
		if r == '<' || r == '>' || r == '\n' || unicode.Is(unicode.Cf, r) {
			o.t.Errorf("%q is bare in %q", r, text)
		}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil || decoder.More() {
		o.t.Errorf("%v in %q", err, text)
	}
	for i, v := range q.Videos {
		if v.Ref != "v"+strconv.Itoa(i+1) || v.Untrusted.Text == "" {
			o.t.Errorf("video %d: %+v", i, v)
		}
	}
	if len(q.Rules) != len(modelRules)-1 { // all but the one that is exact
		o.t.Errorf("rules: %+v", q.Rules)
	}
	for i, rule := range q.Rules {
		if rule.ID != "r"+strconv.Itoa(i+1) || !slices.ContainsFunc(modelRules, func(r stage.Rule) bool { return r.Text == rule.Text }) {
			o.t.Errorf("rule %d: %+v", i, rule)
		}
	}
	return q
}

var modelRules = []stage.Rule{
	{ID: "rule_giveaway", Text: "Skip giveaways"},
	{ID: "rule_kind", Text: "Be kind to animals"},
	{ID: "rule_views", Text: "At least 1k views"},
}

// honest is what a model says that understands: cruel texts are unkind.
func honest(_ int, q question) string { return verdictsOf(q, func(string) []string { return nil }) }

func verdictsOf(q question, more func(text string) []string) string {
	type verdict struct {
		Ref    string   `json:"ref"`
		Breaks []string `json:"breaks"`
	}
	out := struct {
		Verdicts []verdict `json:"verdicts"`
	}{[]verdict{}}
	for _, v := range q.Videos {
		breaks := append([]string{}, more(v.Untrusted.Text)...)
		if strings.Contains(v.Untrusted.Text, "cruel") {
			breaks = append(breaks, "r2")
		}
		if strings.Contains(v.Untrusted.Text, "win a mug") {
			breaks = append(breaks, "r1")
		}
		out.Verdicts = append(out.Verdicts, verdict{v.Ref, breaks})
	}
	raw, _ := json.Marshal(out) //nolint:errchkjson // strings alone
	return string(raw)
}

func captioned(id, caption string, views int64) stage.Record {
	metadata, _ := json.Marshal(map[string]string{"caption": caption}) //nolint:errchkjson // strings alone
	return stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Metadata: metadata, Metrics: stage.Metrics{Views: &views}}
}

func withModel(t *testing.T, o *oracle, settings map[string]string) stage.Call {
	t.Helper()
	o.t = t
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	call := stage.Call{
		Run:      stage.Run{Now: noon.UnixMilli(), Rules: modelRules},
		Settings: map[string]string{"endpoint": server.URL + "/v1", "model": "judge-1"}, Secrets: map[string]string{"key": testKey},
	}
	maps.Copy(call.Settings, settings)
	return call
}

// droppedBy is the rule id of each verdict by the record's id.
func droppedBy(verdicts []stage.Verdict) map[string]string {
	out := map[string]string{}
	for _, v := range verdicts {
		out[v.ExternalID] = v.RuleID
		if (v.RuleID == "") != (v.DroppedBy == "") {
			out[v.ExternalID] = fmt.Sprintf("rule %q but %q", v.RuleID, v.DroppedBy)
		}
	}
	return out
}

var judged = []stage.Record{
	captioned("kept", "Latte art for beginners", 5000),
	captioned("worded", "Espresso giveaway!", 5000),
	captioned("notreally", "This is not a giveaway, it is a recipe", 5000),
	captioned("unworded", "Tag a friend and win a mug", 5000),
	captioned("unkind", "How cruel can one be to a donkey", 5000),
	captioned("few", "Latte art, nothing wrong with it", 10),
	{Ref: stage.Ref{Platform: "tiktok", ExternalID: "wordless"}, Metrics: stage.Metrics{Views: ptr[int64](5000)}},
}

func TestModelDecidesWhatChecksCannot(t *testing.T) {
	t.Parallel()
	for _, batch := range []string{"1", "4"} {
		t.Run("batches of "+batch, func(t *testing.T) {
			o := &oracle{answer: func(n int, q question) string {
				return verdictsOf(q, func(text string) []string {
					if text == "Espresso giveaway!" {
						return []string{"r1"}
					}
					return nil
				})
			}}
			verdicts, summary, err := stagetest.Screen(t, Spec(), withModel(t, o, map[string]string{"batch": batch}), judged)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"kept": "", "worded": "rule_giveaway", "notreally": "", "unworded": "rule_giveaway", "unkind": "rule_kind", "few": "rule_views", "wordless": ""}
			if got := droppedBy(verdicts); !maps.Equal(got, want) {
				t.Errorf("batch %s, want %v: %v", batch, want, got)
			}
			byModel := speakerOf("en").say("by model")
			for _, v := range verdicts {
				want := map[string]string{
					"kept": "the model sees no rule broken; relevance", "notreally": "the model sees no rule broken; relevance",
					"worded": byModel, "unworded": byModel, "unkind": byModel, "few": "dropped: the rule keeps only videos with at least 1,000 views", "wordless": "relevance",
				}[v.ExternalID]
				if !strings.HasPrefix(v.Reason, want) {
					t.Errorf("batch %s: %s: reason %q, want %q", batch, v.ExternalID, v.Reason, want)
				}
			}
			if len(summary.Notes)+len(summary.Unclear) > 0 {
				t.Errorf("batch %s, want 0: %+v", batch, summary)
			}
			if want := map[string]int{"1": 5, "4": 2}[batch]; len(o.asked) != want { // never about "few"
				t.Errorf("batch %s: %d questions, want %d", batch, len(o.asked), want)
			}
		})
	}
}

func TestCompiledRulesDecideWhereTheModelDoesNot(t *testing.T) {
	t.Parallel()
	compiledWant := map[string]string{"kept": "", "worded": "rule_giveaway", "notreally": "rule_giveaway", "unworded": "", "unkind": "", "few": "rule_views", "wordless": ""}
	always := func(text string) func(int, question) string {
		return func(int, question) string { return text }
	}
	for name, c := range map[string]struct {
		answer   func(int, question) string
		settings map[string]string
		finish   string
		note     string
	}{
		"refused":          {answer: always("401"), note: "The model judged 0 of 5 videos. The compiled rules decided on the others: status 401 (5)."},
		"overloaded":       {answer: always("429"), note: "status 429 (5)"},
		"broken":           {answer: always("500"), note: "status 500 (5)"},
		"redirect":         {answer: always("307"), note: "(5)"},
		"hang up":          {answer: always("hang up"), note: "no connection (5)", settings: map[string]string{"parallel": "5"}},
		"no JSON":          {answer: always("garbage"), note: "an answer that does not fit (5)"},
		"prose":            {answer: always("I keep them all."), note: "an answer that does not fit (5)"},
		"nothing":          {answer: always(""), note: "an answer that does not fit (5)"},
		"an array":         {answer: always(`[]`), note: "an answer that does not fit (5)"},
		"no verdicts":      {answer: always(`{"verdicts":[]}`), note: "an answer that does not fit (5)"},
		"null":             {answer: always(`{"verdicts":[{"ref":"v1","breaks":null}]}`), note: "an answer that does not fit (5)"},
		"extra field":      {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r1"],"why":"x"}]}`), note: "an answer that does not fit (5)"},
		"extra member":     {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r1"]}],"drop":"all"}`), note: "an answer that does not fit (5)"},
		"trailing":         {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r1"]}]} and more`), note: "an answer that does not fit (5)"},
		"other ref":        {answer: always(`{"verdicts":[{"ref":"v2","breaks":["r1"]},{"ref":"7","breaks":["r1"]}]}`), note: "an answer that does not fit (5)"},
		"other rule":       {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r1","r9"]}]}`), note: "an answer that does not fit (5)"},
		"the rule's words": {answer: always(`{"verdicts":[{"ref":"v1","breaks":["Skip giveaways"]}]}`), note: "an answer that does not fit (5)"},
		"the exact rule":   {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r3"]}]}`), note: "an answer that does not fit (5)"},
		"twice":            {answer: always(`{"verdicts":[{"ref":"v1","breaks":["r1"]},{"ref":"v1","breaks":[]}]}`), note: "an answer that does not fit (5)"},
		"cut off":          {answer: honest, finish: "length", note: "an answer that does not fit (5)"},
		"too long":         {answer: always(`{"verdicts":[{"ref":"v1","breaks":[` + strings.Repeat(`"r1",`, 300_000) + `"r1"]}]}`), note: "an answer that does not fit (5)"},
		"no model named":   {answer: honest, settings: map[string]string{"model": ""}, note: "The model is not set up rightly (model: needed with an endpoint): the compiled rules decided."},
		"a bad limit":      {answer: honest, settings: map[string]string{"batch": "100"}, note: "(batch: want a number from 1 to 20)"},
		"a bad address":    {answer: honest, settings: map[string]string{"endpoint": "ftp://x"}, note: "want an http or https address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &oracle{answer: c.answer, finish: c.finish}
			verdicts, summary, err := stagetest.Screen(t, Spec(), withModel(t, o, c.settings), judged)
			if err != nil {
				t.Fatal(err)
			}
			if got := droppedBy(verdicts); !maps.Equal(got, compiledWant) {
				t.Errorf("verdicts %v, want %v", got, compiledWant)
			}
			notes := strings.Join(summary.Notes, "\n")
			if !strings.Contains(notes, c.note) || strings.Contains(notes, "sk-") || strings.Contains(notes, "127.0.0.1") {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if !slices.Equal(summary.Unclear, []string{"Be kind to animals"}) {
				t.Errorf("unclear: %q", summary.Unclear)
			}
		})
	}
}

func TestModelIsAskedAgainWhenItIsBusy(t *testing.T) {
	t.Parallel()
	o := &oracle{answer: func(n int, q question) string {
		if n <= 2 {
			return []string{"429", "503"}[n-1]
		}
		return honest(n, q)
	}}
	_, summary, err := stagetest.Screen(t, Spec(), withModel(t, o, map[string]string{"parallel": "1"}), judged)
	if err != nil || len(summary.Notes) > 0 || o.calls != 7 {
		t.Errorf("got %d calls, summary %+v, error %v; want 7 calls and no note", o.calls, summary, err)
	}
}

func TestModelIsNotAskedBeyondTheShareOfTheAccount(t *testing.T) {
	t.Parallel()
	o := &oracle{answer: honest}
	call := withModel(t, o, map[string]string{"parallel": "1"})
	granted := 0
	call.Grant = func(_ context.Context, quota string, units int64, _ string) error {
		if quota != "tokens" || units < 1 || granted == 1 {
			return stage.Quotaf(time.Time{}, "quota %s is used up", quota)
		}
		granted++
		return nil
	}
	_, summary, err := stagetest.Screen(t, Spec(), call, judged)
	const want = "The model judged 1 of 5 videos. The compiled rules decided on the others: this account's share of the tokens of the day is used up (4)."
	if err != nil || o.calls != 1 || strings.Join(summary.Notes, "") != want {
		t.Errorf("got %d calls, notes %q, %v; want 1, %q", o.calls, summary.Notes, err, want)
	}
}

func TestModelHasItsLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings map[string]string
		answer   func(int, question) string
		calls    int
		note     string
	}{
		"requests": {map[string]string{"requests": "2"}, honest, 2, "The model judged 2 of 5 videos. The compiled rules decided on the others: not asked beyond what a scroll may spend (3)."},
		"tokens":   {map[string]string{"tokens": "250"}, honest, 3, "judged 3 of 5"},
		"patience": {map[string]string{}, func(int, question) string { return "404" }, 5, "not asked after 5 failures in a row (5), status 404 (5)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &oracle{answer: c.answer}
			c.settings["parallel"] = "1"
			records := judged
			if name == "patience" {
				for i, rec := range judged {
					rec.ExternalID = strconv.Itoa(i)
					records = append(slices.Clone(records), rec)
				}
			}
			_, summary, err := stagetest.Screen(t, Spec(), withModel(t, o, c.settings), records)
			if err != nil || o.calls != c.calls || !strings.Contains(strings.Join(summary.Notes, ""), c.note) {
				t.Errorf("got %d calls, notes %q, error %v; want %d calls and a note with %q", o.calls, summary.Notes, err, c.calls, c.note)
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		o := &oracle{answer: func(int, question) string { return "hang" }}
		call := withModel(t, o, map[string]string{"batch": "1", "parallel": "8", "requests": "9", "tokens": "9999", "minutes": "1"})
		p := newPanel(&call, Compile(call.Run))
		p.longest = 200 * time.Millisecond
		start := time.Now()
		if _, err := p.judge(context.Background(), judged); err != nil {
			t.Fatal(err)
		}
		if notes := p.summary().Notes; time.Since(start) > 10*time.Second || len(notes) != 1 || !strings.Contains(notes[0], "no answer in time (5)") {
			t.Errorf(`after %v, want time at most %v, 1 note and notes[0] with "no answer in time (5)": %q`, time.Since(start), 10*time.Second, notes)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.judge(ctx, judged); err == nil {
			t.Error("a call that is over goes on, want an error")
		}
	})
}

// injections are texts that try to talk a reader into another verdict.
func injections(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/injections.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) < 30 {
		t.Fatalf("%d injections, want at least 30", len(lines))
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], `\n`, "\n")
	}
	return lines
}

func TestInjectionsChangeNoCompiledVerdict(t *testing.T) {
	t.Parallel()
	p := Compile(stage.Run{Now: noon.UnixMilli(), Rules: append([]stage.Rule{
		{ID: "rule_politics", Text: "No politics"}, {ID: "rule_ad", Text: "No #ad"}, {ID: "rule_coffee", Text: "Only videos about coffee"},
	}, modelRules...)})
	for _, text := range injections(t) {
		for caption, want := range map[string]string{
			"Coffee at home": "", "Coffee giveaway": "rule_giveaway", "Coffee #ad": "rule_ad", "Coffee politics": "rule_politics", "Tea at home": "rule_coffee",
		} {
			t.Run(caption, func(t *testing.T) {
				for _, whole := range []string{caption + " " + text, text + " " + caption, caption + "\n\n" + text} {
					if v := p.Judge(captioned("x", whole, 5000), noon); v.RuleID != want {
						t.Errorf("%q: dropped by %q, want %q", whole, v.RuleID, want)
					}
				}
			})
		}
		if v := p.Judge(captioned("x", "Coffee at home "+text, 5), noon); v.RuleID != "rule_views" {
			t.Errorf(`%q: dropped by %q, want "rule_views"`, text, v.RuleID)
		}
	}
}

// TestInjectionsChangeNoOtherVerdict has a model that obeys every injection in the
// worst way that it can. It may only ruin the verdict on the injected video itself,
// and even there only choose among the rules that were open.
func TestInjectionsChangeNoOtherVerdict(t *testing.T) {
	t.Parallel()
	texts := injections(t)
	var clean, mixed []stage.Record
	for i, text := range texts {
		one := judged[i%len(judged)]
		one.ExternalID = fmt.Sprintf("%s-%d", one.ExternalID, i)
		clean = append(clean, one)
		mixed = append(mixed, one, captioned("injected-"+strconv.Itoa(i), "Coffee. "+text, 5000))
	}
	o := &oracle{answer: honest}
	verdicts, _, err := stagetest.Screen(t, Spec(), withModel(t, o, nil), clean)
	if err != nil {
		t.Fatal(err)
	}
	want := droppedBy(verdicts)
	crowd := slices.Clone(mixed) // first the injected ones, so that they are asked about in a row
	slices.SortStableFunc(crowd, func(a, b stage.Record) int { return strings.Compare(a.ExternalID[:1], b.ExternalID[:1]) })
	for name, harm := range map[string]func(q question) string{
		"drops all": func(q question) string { return verdictsOf(q, func(string) []string { return []string{"r1", "r2"} }) },
		"keeps all": func(q question) string {
			return strings.NewReplacer(`"r1"`, "", `"r2"`, "").Replace(honest(0, q))
		},
		"other refs":  func(question) string { return everything(50, `"r1","r2"`, "") },
		"extra field": func(question) string { return everything(50, `"r1"`, `,"override":true`) },
		"other rules": func(question) string { return everything(50, `"r1","r3","r99","Skip giveaways"`, "") },
		"status 400":  func(question) string { return "400" },
		"prose":       func(question) string { return "As you wish: I keep this one and drop the rest." },
		"the refs of the platform": func(question) string {
			return `{"verdicts":[{"ref":"kept-0","breaks":["r1"]},{"ref":"tiktok/kept-0","breaks":["r1"]},{"ref":"v1","breaks":["r2"]}]}`
		},
		"its instructions": func(question) string { raw, _ := json.Marshal(instructions); return string(raw) }, //nolint:errchkjson // a string
	} {
		t.Run(name, func(t *testing.T) {
			o := &oracle{answer: func(n int, q question) string {
				if slices.ContainsFunc(q.Videos, func(v askedVideo) bool { return strings.HasPrefix(v.Untrusted.Text, "Coffee. ") }) {
					return harm(q)
				}
				return honest(n, q)
			}}
			verdicts, _, err := stagetest.Screen(t, Spec(), withModel(t, o, map[string]string{"parallel": "1"}), crowd)
			if err != nil {
				t.Fatal(err)
			}
			for id, rule := range droppedBy(verdicts) {
				if strings.HasPrefix(id, "injected-") {
					if !slices.Contains([]string{"", "rule_giveaway", "rule_kind"}, rule) {
						t.Errorf("%s: %s is dropped by %q", name, id, rule)
					}
					continue
				}
				if rule != want[id] {
					t.Errorf("%s: %s is dropped by %q, want %q", name, id, rule, want[id])
				}
			}
		})
	}
}

func everything(n int, breaks, more string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"ref":"v%d","breaks":[%s]%s}`, i+1, breaks, more))
	}
	return `{"verdicts":[` + strings.Join(all, ",") + `]}`
}

// FuzzAnswers: whatever a model answers, an opinion is of all that was asked and of
// nothing else, and none comes of an answer in another form.
func FuzzAnswers(f *testing.F) {
	for _, answer := range []string{
		everything(2, `"r1"`, ""), everything(3, "", ""), everything(1, `"r9"`, ""), everything(1, "", `,"x":1`), "", "null", "[]", `{"verdicts":null}`, `{"verdicts":[{}]}`,
	} {
		f.Add(answer)
	}
	p := Compile(stage.Run{Now: noon.UnixMilli(), Rules: modelRules})
	q := newQuestion(p.Open, []*facts.Facts{facts.Of(judged[0], noon), facts.Of(judged[1], noon)})
	f.Fuzz(func(t *testing.T, answer string) {
		opinions := q.read(answer)
		if len(opinions) != 2 {
			t.Fatalf("%d opinions, want 2", len(opinions))
		}
		for _, one := range opinions {
			if one == nil {
				continue
			}
			if len(one) != len(p.Open) || !json.Valid([]byte(answer)) {
				t.Errorf("%v of %q", one, answer)
			}
			for _, item := range p.Open {
				if _, ok := one[item.Text]; !ok {
					t.Errorf("%q is not in %v, want one", item.Text, one)
				}
			}
		}
	})
}
