package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// needs skips a test without a tool, but never in CI.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		err := exec.Command("/bin/sh", "-c", tool).Run()
		if err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s: %v", tool, err)
		}
	}
}

const (
	hasMake   = "command -v make && command -v curl && command -v bash"
	hasPython = "/usr/bin/python3 -c 'import grpc, google.protobuf'"
	hasNode   = "test -x /usr/bin/node && command -v npm"
)

// TestKitOfOtherLanguages tests, builds and checks what `plugins new` writes in Python and
// TypeScript, of each kind.
func TestKitOfOtherLanguages(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	for lang, tool := range map[string]string{"python": hasPython, "ts": hasNode} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, hasMake, tool)
			out := inKit(t, t.TempDir(), `set -euo pipefail
for kind in plan source screen evidence brief; do
  scrollery plugins new "my-$kind" --kind $kind --lang `+lang+`
  test ! -e my-plan/node_modules || ln -sf ../my-plan/node_modules "my-$kind/" # one download is enough
  make -C "my-$kind" test install PLUGINS="$PWD/plugins"
done
test `+lang+` != ts || make -C my-source types
SCROLLERY_PLUGIN_DIR="$PWD/plugins" scrollery plugins list
SCROLLERY_STAGE= plugins/my-plan/my-plan && exit 1
true
`)
			if passed := strings.Count(out, "ok   lets go of a cancelled call"); passed != 5 || strings.Contains(out, "FAIL ") {
				t.Errorf("got %d plugins that pass every check, want 5:\n%s", passed, out)
			}
			if ready := regexp.MustCompile(`(?m)^my-\w+ +\w+ +0\.1\.0 +ready`).FindAllString(out, -1); len(ready) != 5 || !strings.Contains(out, "it is not started by hand") {
				t.Errorf("got %q ready, want 5:\n%s", ready, out)
			}
		})
	}
}

// TestRSSPage runs the commands of docs/extenders-rss.md unchanged, for each language: it
// tries the plugin with a feed and finds its videos in a scroll.
func TestRSSPage(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	page, err := os.ReadFile("../../docs/extenders-rss.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh ?(\\w*)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 5 {
		t.Fatalf("the page has %d blocks of commands, want 5", len(blocks))
	}
	for lang, tool := range map[string]string{"go": "command -v go", "python": hasPython, "ts": hasNode} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, hasMake, "/usr/bin/python3 -c 1", tool)
			var script strings.Builder
			script.WriteString("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
			for _, block := range blocks {
				if block[1] == "" || block[1] == "run" || block[1] == lang {
					script.WriteString(block[2])
				}
			}
			address, feed := quietAddress(t), quietAddress(t)
			_, port, _ := strings.Cut(feed, ":")
			text := strings.NewReplacer("127.0.0.1:8080", address, "127.0.0.1:9990", feed, "127.0.0.1 9990", "127.0.0.1 "+port, "PLUGIN=rss-go", "PLUGIN=rss-"+lang).Replace(script.String())
			text = strings.Replace(text, "export FEED", "until curl -sf http://"+feed+"/feed.xml > /dev/null; do sleep 0.2; done\nexport FEED", 1)
			out := inKit(t, t.TempDir(), text, "SCROLLERY_ADDR="+address, "SCROLLERY_OPS_ADDR=127.0.0.1:0")
			for _, want := range []string{
				"ok   lets go of a cancelled call", `"externalId":"a1"`, `"externalId":"a2"`, `"status":"ok"`, "2 answers, 0 rules broken", "Grind finer ", "ready", "Pour slower",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("the commands did not print %q:\n%s", want, out)
				}
			}
		})
	}
}

// TestCheckNamesTheBrokenRule: a plugin that breaks a rule on real input is told which.
func TestCheckNamesTheBrokenRule(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	needs(t, hasMake, hasPython)
	out := inKit(t, t.TempDir(), `set -euo pipefail
scrollery plugins new odd --kind screen --lang python
sed -i 's/emit(pb.Verdict/video.ref.external_id == "2" or emit(pb.Verdict/' odd/main.py
make -C odd build
echo '{"platform":"tiktok","externalId":"1"}' > input.jsonl
scrollery plugins check odd/odd --input input.jsonl
echo '{"platform":"tiktok","externalId":"2"}' >> input.jsonl
scrollery plugins check odd/odd --input input.jsonl && exit 1
scrollery plugins check odd/odd --setting nothing=1 && exit 1
sed -i 's/emit(pb.Verdict/{}["views"] and emit(pb.Verdict/' odd/main.py
make -C odd build
echo '{"platform":"tiktok","externalId":"1"}' > input.jsonl
scrollery plugins check odd/odd --input input.jsonl && exit 1
echo '{"platform":"TikTok!"}' > input.jsonl
scrollery plugins check odd/odd --input input.jsonl && exit 1
true
`)
	for _, want := range []string{
		`verdict  {"platform":"tiktok","externalId":"1"`, "1 answers, 0 rules broken", "FAIL     the call: rule: a screen gives every video one verdict: tiktok 2 has none",
		`the plugin has no setting "nothing"`, "input, line 1: ", "KeyError: 'views'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
}

// TestPluginsListAsJSON: a program reads what each plugin wants, and no value of it.
func TestPluginsListAsJSON(t *testing.T) {
	t.Parallel()
	out := inKit(t, t.TempDir(), `SCROLLERY_YOUTUBE_API_KEY=sk-very-secret scrollery plugins list --json 2>/dev/null`)
	var plugins []struct {
		ID, Kind, State, Reason string
		Wants                   struct {
			Settings, Secrets []struct {
				Name          string
				Required, Set bool
			}
			Hosts    []string
			Programs []string
		}
	}
	if err := json.Unmarshal([]byte(out), &plugins); err != nil || strings.Contains(out, "sk-very-secret") {
		t.Fatalf("%v, want no error and out without \"sk-very-secret\":\n%s", err, out)
	}
	found := map[string]bool{}
	for _, p := range plugins {
		switch p.ID {
		case "youtube":
			found[p.ID] = len(p.Wants.Hosts) > 0 && len(p.Wants.Secrets) > 0 && p.Wants.Secrets[0].Set
		case "brief":
			found[p.ID] = p.Kind == "brief" && p.State == "unset" && len(p.Wants.Settings) > 0 && p.Wants.Settings[0].Required && !p.Wants.Settings[0].Set
		case "ocr":
			found[p.ID] = len(p.Wants.Programs) > 0
		}
	}
	for id, variable := range map[string]string{"brief": "SCROLLERY_MODEL_URL", "tiktok": "SCROLLERY_TIKTOK_ELIGIBLE"} {
		for _, p := range plugins {
			if p.ID == id && !strings.HasSuffix(p.Reason, "is missing: set "+variable) {
				t.Errorf("%s is unset because %q, want the variable %s named", id, p.Reason, variable)
			}
		}
	}
	if !found["youtube"] || !found["brief"] || !found["ocr"] {
		t.Errorf("got %v, want what three plugins want:\n%s", found, out)
	}
}

// TestPackages builds a wheel with the system's Python, and a tarball of npm, from the tree.
func TestPackages(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	needs(t, hasPython+" && /usr/bin/python3 -c 'import setuptools, wheel, pip'", hasNode)
	dir := t.TempDir()
	out := inKit(t, dir, `set -euo pipefail
scrollery plugins kit --lang python py
/usr/bin/python3 -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w out ./py
scrollery plugins kit --lang ts ts
(cd ts && npm pack --silent --pack-destination ../out)
/usr/bin/python3 -m zipfile -l out/*.whl
tar tzf out/*.tgz
`)
	for _, want := range []string{"scrollery_stage/stage.binpb", "scrollery_stage/server.py", "package/schema.js", "package/messages.d.ts"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is in no package:\n%s", want, out)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "out", "*")); len(found) != 2 {
		t.Errorf("got %q, want a wheel and a tarball", found)
	}
}

// TestKitsKeepStatesAndCheck: a source in each language gets a state, keeps another one after the
// record that it is about, and checks itself.
func TestKitsKeepStatesAndCheck(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	for lang, c := range map[string]struct{ tool, source string }{
		"python": {hasPython, `cat > noter/main.py <<'END'
from scrollery_stage import Fault, outcome, pb, serve, text_of


def collect(call, seeds, emit):
    for seed in seeds:
        emit(pb.Record(ref=pb.Ref(platform="example", external_id="after-" + (seed.state.decode() or "none")), seed=text_of(seed)))
        call.keep_state(seed, b"" if seed.state else b"first")
    return [outcome(seed, "example", "ok", returned=1) for seed in seeds]


def check(call):
    if call.secrets.get("token") != "right-token":
        raise Fault("refused", "the token is another one")
    return "signed in"


serve(pb.Description(id="noter", version="0.1.0", kind="source", platforms=["example"], secrets=["token"], hosts=["api.example.com:443"]), collect=collect, check=check)
END
`},
		"ts": {hasNode, `cat > noter/main.ts <<'END'
import { Fault, outcome, serve, textOf } from "./scrollery-stage/index.js";

serve({ id: "noter", version: "0.1.0", kind: "source", platforms: ["example"], secrets: ["token"], hosts: ["api.example.com:443"] }, {
  async collect(call, seeds, emit) {
    for (const seed of seeds) {
      const before = Buffer.from(seed.state ?? "").toString();
      await emit({ ref: { platform: "example", externalId: "after-" + (before || "none") }, seed: textOf(seed) });
      await call.keepState(seed, before ? "" : "first");
    }
    return seeds.map((seed) => outcome(seed, "example", "ok", { returned: 1 }));
  },
  async check(call) {
    if (call.secrets.token !== "right-token") throw new Fault("refused", "the token is another one");
    return "signed in";
  },
});
END
`},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, hasMake, c.tool)
			out := inKit(t, t.TempDir(), `set -euo pipefail
scrollery plugins new noter --kind source --lang `+lang+`
`+c.source+`
make -C noter build
printf '{"kind":"niche","term":"coffee"}\n{"kind":"niche","term":"tea","state":"first"}\n' > seeds.jsonl
scrollery plugins check noter/noter --secret token=right-token --input seeds.jsonl
scrollery plugins check noter/noter --secret token=wrong-token && exit 1
true
`)
			last := 0
			for _, want := range []string{
				"ok   ends its check in time", "ok   lets go of a cancelled call", `check    "signed in"`,
				`"externalId":"after-none"`, `state    {"bytes":5,"seed":"coffee","state":"first"}`,
				`"externalId":"after-first"`, `state    {"bytes":0,"seed":"tea","state":""}`, "2 answers, 0 rules broken",
				`check    {"fault":"refused","message":"the token is another one"}`,
			} {
				at := strings.Index(out[last:], want)
				if at < 0 {
					t.Fatalf("%q is not in the output, after what comes before it:\n%s", want, out)
				}
				last += at
			}
		})
	}
}

// TestScreensOfTheKitsLookAtEvidence: a screen in Python and in TypeScript declares that it runs
// after the evidence stages, and drops by the language and the words of the speech.
func TestScreensOfTheKitsLookAtEvidence(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	for lang, c := range map[string]struct{ tool, edit string }{
		"python": {hasPython, `sed -i 's/kind="screen"/kind="screen", after_evidence=True/;s/rank=rank(video.metrics)/dropped_by="English only" if video.evidence.language not in ("", "en") else "No giveaways" if "giveaway" in video.evidence.spoken else ""/' ear/main.py
make -C ear build`},
		"ts": {hasNode, `sed -i 's/kind: "screen"/kind: "screen", afterEvidence: true/;s/rank: rank(video.metrics) }/droppedBy: !["", "en"].includes(video.evidence?.language ?? "") ? "English only" : video.evidence?.spoken?.includes("giveaway") ? "No giveaways" : "" }/;/^\/\/ 0 where/,$d' ear/stage.ts
make -C ear build`},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, hasMake, c.tool)
			out := inKit(t, t.TempDir(), `set -euo pipefail
scrollery plugins new ear --kind screen --lang `+lang+`
`+c.edit+`
cat > input.jsonl <<END
{"platform":"tiktok","externalId":"1","evidence":{"spoken":"Guten Morgen","language":"de"}}
{"platform":"tiktok","externalId":"2","evidence":{"spoken":"Join the giveaway","language":"en"}}
{"platform":"tiktok","externalId":"3","evidence":{"spoken":"Good morning","language":"en"}}
{"platform":"tiktok","externalId":"4"}
END
scrollery plugins check ear/ear --input input.jsonl
make -C ear install PLUGINS="$PWD/plugins"
SCROLLERY_PLUGIN_DIR="$PWD/plugins" scrollery plugins list --json | tr -d ' \n'
`)
			for want, times := range map[string]int{`"droppedBy":"English only"`: 1, `"droppedBy":"No giveaways"`: 1, `"afterEvidence":true`: 1, "FAIL ": 0} {
				if got := strings.Count(out, want); got != times {
					t.Errorf("%q is there %d times, want %d:\n%s", want, got, times, out)
				}
			}
		})
	}
}

// TestPackagesOfPlugins hands a plugin in Go and one in Python from an author to an operator, who
// installs them and then a newer version of one.
func TestPackagesOfPlugins(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	needs(t, hasMake, hasPython)
	out := inKit(t, t.TempDir(), `set -euo pipefail
export SCROLLERY_PLUGIN_DIR="$PWD/plugins"
scrollery plugins new in-go --kind screen --replace "$CHECKOUT"
scrollery plugins new in-python --kind screen --lang python
for name in in-go in-python; do
  make -C $name build
  scrollery plugins package $name -o $name.tar.gz
  scrollery plugins install $name.tar.gz < /dev/null && exit 1
  test ! -e plugins/$name
  scrollery plugins install $name.tar.gz --yes
done
sed -i 's/0\.1\.0/0.2.0/' in-python/main.py
make -C in-python build
scrollery plugins package in-python/plugin.yaml
scrollery plugins install in-python_0.2.0_any_any.tar.gz --yes
scrollery plugins list
scrollery plugins remove in-go --yes
test ! -e plugins/in-go
`)
	for _, want := range []string{
		"stdin is no terminal to ask on", "is a script: may read and run", "Replace in-python 0.1.0 in", "by 0.2.0? Yes.", "in-go is removed",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
	for _, ready := range []string{`in-go +screen +0\.1\.0 +ready`, `in-python +screen +0\.2\.0 +ready`} {
		if !regexp.MustCompile(`(?m)^` + ready).MatchString(out) {
			t.Errorf("the list has no %s:\n%s", ready, out)
		}
	}
}

// TestKitsSayWhatIsWrong: a source in each language emits what does not fit, reports what is no
// outcome, and reads known videos again with the prompt and rules of a run.
func TestKitsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	storetest.Heavy(t)
	for lang, c := range map[string]struct {
		tool, source string
		wrong, low   string // what the wrong value is called, and the line of one beyond its bound
	}{
		"python": {hasPython, `cat > odd/main.py <<'END'
from scrollery_stage import dollars, outcome, pb, serve, text_of


def record(number, views):
    return pb.Record(ref=pb.Ref(platform="example", external_id=number), metrics=pb.Metrics(views=views))


def media(call, refs, emit):
    for ref in refs:
        with open(call.scratch + "/film", "wb") as film:
            film.write(b"film")
        emit(pb.File(ref=ref, name="film"))
    return [outcome(pb.Seed(term=ref.external_id), "example", "ok", returned=1) for ref in refs]


def collect(call, seeds, emit):
    for seed in seeds:
        emit(record("1", "many" if seed.term == "wrong" else -1 if seed.term == "low" else 3))
    return [outcome(seed, "example", "fine" if seed.term == "fine" else "ok", returned=2 if seed.term == "more" else 1, cost=dollars("0.5") if seed.term == "dear" else None) for seed in seeds]


def refresh(call, refs, emit):
    for ref in refs:
        emit(pb.Record(ref=ref, metadata_json=('{"caption":"%s, %s"}' % (call.run.prompt, call.run.rules[0].text)).encode()))
    return [outcome(pb.Seed(term=ref.external_id), "example", "ok", returned=1) for ref in refs]


serve(pb.Description(id="odd", version="0.1.0", kind="source", platforms=["example"], price=pb.Price(call=dollars("0.002")), docs_url="https://odd.example.com"), collect=collect, refresh=refresh, media=media)
END
`, "(main.py, line 5)", "(main.py, line 18)"},
		"ts": {hasNode, `cat > odd/main.ts <<'END'
import { writeFileSync } from "node:fs";
import { dollars, outcome, serve, type Record } from "./scrollery-stage/index.js";

function record(externalId: string, views: any): Record {
  return { ref: { platform: "example", externalId }, metrics: { views } };
}

serve({ id: "odd", version: "0.1.0", kind: "source", platforms: ["example"], price: { call: dollars("0.002") }, docsUrl: "https://odd.example.com" }, {
  async collect(call, seeds, emit) {
    for (const seed of seeds) {
      await emit(record("1", seed.term === "wrong" ? "many" : seed.term === "low" ? -1 : 3));
    }
    return seeds.map((seed) => outcome(seed, "example", seed.term === "fine" ? "fine" : "ok", { returned: seed.term === "more" ? 2 : 1, cost: seed.term === "dear" ? dollars("0.5") : undefined }));
  },
  async media(call, refs, emit) {
    for (const ref of refs) {
      writeFileSync(call.scratch + "/film", "film");
      await emit({ ref, name: "film" });
    }
    return refs.map((ref) => outcome({ term: ref.externalId }, "example", "ok", { returned: 1 }));
  },
  async refresh(call, refs, emit) {
    for (const ref of refs) await emit({ ref, metadataJson: JSON.stringify({ caption: call.run.prompt + ", " + call.run.rules?.[0]?.text }) });
    return refs.map((ref) => outcome({ term: ref.externalId }, "example", "ok", { returned: 1 }));
  },
});
END
`, `TypeError: Record.metrics.views: want a whole number, got \"many\" (main.ts, line 11)`, "(main.ts, line 11)"},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			needs(t, hasMake, c.tool)
			out := inKit(t, t.TempDir(), `set -euo pipefail
scrollery plugins new odd --kind source --lang `+lang+`
`+c.source+`
make -C odd build
for term in wrong low fine more dear; do
  echo "{\"kind\":\"niche\",\"term\":\"$term\"}" > seeds.jsonl
  scrollery plugins check odd/odd --input seeds.jsonl && exit 1
done
echo '{"platform":"example","externalId":"7"}' > refs.jsonl
echo '{"prompt":"calm","rules":[{"id":"r","text":"No giveaways"}]}' > run.json
scrollery plugins check odd/odd --verb refresh --input refs.jsonl --run run.json
scrollery plugins check odd/odd --verb media --input refs.jsonl
scrollery plugins pin odd/odd
mkdir plugins && cp -r odd plugins/
SCROLLERY_PLUGIN_DIR="$PWD/plugins" scrollery plugins list --json | tr -d ' \n'
`)
			for _, want := range []string{
				c.wrong, `FAIL     the call: rule: an outcome has a status of the protocol: "fine" has "fine"`,
				"FAIL     the call: rule: the outcomes add up to the records: they say 2 returned, 1 came",
				"FAIL     the call: rule: outcomes cost at most the price: they cost 0.50 USD, the price of this call is 0.002 USD",
				`"metadata":{"caption":"calm, No giveaways"}`, "1 answers, 0 rules broken", `file     {"platform":"example","externalId":"7","name":"film"}`,
				"Error: Record.metrics.views: want a whole number from 0 to 9007199254740992, got -1 " + c.low,
				"pays: up to 0.002 USD for a seed of 50 videos, 1.00 USD a day unless you set its budget",
				`"docsUrl":"https://odd.example.com"`, `{"name":"cost","limit":1000000,"window":"utc_day","money":true,"perHandle":2000,"perTerm":2000}`,
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in the output:\n%s", want, out)
				}
			}
		})
	}
}
