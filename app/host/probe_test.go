package host_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestMain makes the test binary its own plugins.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == host.PluginVerb {
		rude(os.Args[2])
	}
	switch name := filepath.Base(os.Args[0]); name {
	case "acme", "zeta", "changed", "mute", "noise", "dead":
		rude(name)
		external(name)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "sleep" {
		time.Sleep(time.Hour)
	}
	if len(os.Args) > 2 && os.Args[1] == "host" {
		if len(os.Args) > 3 && os.Args[3] == "media" {
			lonelyFetcher(os.Args[2])
		}
		lonelyHost(os.Args[2])
	}
	if host.Dispatch(os.Args, specs()) {
		return
	}
	os.Exit(m.Run())
}

// external is what the test binary is under another name.
func external(id string) {
	stage.Main(stage.Spec{
		ID: id, Version: "2.1.0", Kind: stage.SourceKind, Platforms: []string{"acmetok"}, Summary: "A test's stage",
		Settings: []stage.Setting{{Name: "region"}, {Name: "dir", Path: true}, {Name: "days", Type: stage.Number, Min: "1", Max: "9"}}, Secrets: []string{"token", "ungranted"},
		Hosts:   []string{"localhost:9"},
		Collect: probe, Refresh: refresh, Check: signIn,
	})
}

func specs() []stage.Spec {
	bare := stage.Spec{Version: "1", Kind: stage.SourceKind, Collect: probe}
	named := func(id string) stage.Spec { s := bare; s.ID = id; return s }
	source := named("probe")
	source.Platforms = []string{"tiktok"}
	source.Settings = []stage.Setting{{Name: "dir", Path: true}, {Name: "tone", Default: "calm"}, {Name: "daily"}}
	source.Secrets = []string{"token"}
	source.Refresh = refresh
	fetcher := named("fetcher")
	fetcher.Media = fetchMedia
	keyed := named("keyed")
	keyed.Secrets, keyed.RequiredSecrets = []string{"token", "extra"}, []string{"token"}
	keyed.Check = signIn
	secretive := named("hostile")
	secretive.Secrets = []string{"token"}
	secretive.Check = signIn // its process has another one
	renewing := named("renewing")
	renewing.Secrets, renewing.Tokens = []string{"token", "fixed"}, []string{"token"}
	curious := named("curious")
	curious.Settings = []stage.Setting{{Name: "file", Path: true, Default: "/etc/passwd"}}
	paying := named("paying")
	paying.Secrets, paying.RequiredSecrets, paying.Limits.Calls = []string{"token"}, []string{"token"}, 1
	paying.Settings = []stage.Setting{{Name: "accepted", Required: true, Own: true}, {Name: "daily", Own: true}, {Name: "tone"}, {Name: "url", Endpoint: true}}
	paying.Quotas = []stage.Allowance{{Name: "units", Limit: 100, Setting: "daily", Window: stage.UTCDay}}
	shy := named("shy")
	shy.Limits.Calls = 1
	source.Quotas = []stage.Allowance{
		{Name: "units", Limit: 100, Setting: "daily", Window: stage.PacificDay},
		{Name: "tags", Limit: 30, Window: stage.Week},
	}
	online := named("online")
	online.Hosts, online.Docs = []string{"localhost:1"}, "https://acme.example.com/docs"
	online.Price = stage.Price{Call: 2000, Record: 100, Budget: 3 * stage.Dollar}
	return []stage.Spec{
		source, renewing, online, curious, shy, paying, keyed, outward(), presumptuous(), runner(), fetcher, named("noise"), named("mute"), named("elsewhere"), named("dead"), named("brokering"), named("silent"), secretive,
		{ID: "noter", Version: "1", Kind: stage.ScreenKind, Secrets: []string{"token"}, Screen: judge},
		{ID: "guide", Version: "1", Kind: stage.PlanKind, Plan: guide},
		{ID: "unread", Version: "1", Kind: stage.EvidenceKind, Evidence: listen},
		{ID: "watcher", Version: "1", Kind: stage.EvidenceKind, NeedsMedia: true, Evidence: watch},
		{ID: "judge", Version: "1", Kind: stage.ScreenKind, Screen: judge, Check: func(context.Context, *stage.Call) (string, error) { return "judges", nil }},
		{ID: "listener", Version: "1", Kind: stage.EvidenceKind, Evidence: listen},
		{ID: "framer", Version: "1", Kind: stage.EvidenceKind, Evidence: frameAll},
	}
}

// rude are the plugins that do not use the SDK.
func rude(id string) {
	switch id {
	case "noise":
		fmt.Println("hello, I am a plugin")
	case "mute":
		time.Sleep(time.Hour)
	case "elsewhere":
		fmt.Println("1|1|tcp|127.0.0.1:22|grpc|" + strings.Repeat("A", 60))
		time.Sleep(time.Hour)
	case "hostile", "unread", "noter":
		serveHostile()
		os.Exit(0)
	case "silent":
		path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "socket")
		if _, err := net.Listen("unix", path); err == nil {
			fmt.Println("1|1|unix|" + path + "|grpc|")
		}
		time.Sleep(time.Hour)
	case "hoarder":
		memory := make([]byte, 60<<20)
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
		time.Sleep(time.Minute)
		fmt.Println(memory[0])
	case "brokering":
		serveBroker()
	case "dead":
		fmt.Fprintln(os.Stderr, "no libfoo.so.1")
		os.Exit(5)
	}
}

// one is a record that carries what the probe found out.
func one(id string, found any) stage.Record {
	raw, _ := json.Marshal(map[string]any{"found": found})
	return stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Metadata: raw}
}

func many(n int, emit func(stage.Record) error) error {
	for i := range n {
		if err := emit(one(strconv.Itoa(i), i)); err != nil {
			return err
		}
	}
	return nil
}

func verdict(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// probe does what its seed's term says.
func probe(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	do, arg, _ := strings.Cut(seeds[0].Term, ":")
	switch do {
	case "many":
		n, _ := strconv.Atoi(arg)
		err := many(n, emit)
		return []stage.Outcome{{Seed: seeds[0].Term, Platform: "tiktok", Status: stage.OK, Asked: n, Returned: n}}, err
	case "given":
		return nil, emit(one("1", map[string]any{
			"settings": call.Settings, "secrets": call.Secrets, "run": call.Run, "env": os.Environ(), "seeds": len(seeds),
		}))
	case "note": // each seed: what was kept of it, and what to keep
		for _, seed := range seeds {
			_, next, _ := strings.Cut(seed.Term, ":")
			if err := emit(one(seed.Term, string(call.State(seed)))); err != nil {
				return nil, err
			}
			if err := call.KeepState(ctx, seed, []byte(next)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "crash":
		_ = many(120, emit)
		os.Exit(3)
	case "linger":
		if err := emit(one("1", "here")); err != nil {
			return nil, err
		}
		time.Sleep(400 * time.Millisecond) // longer than a record waits for company
		return nil, nil
	case "panic":
		panic("out of cheese")
	case "gopanic":
		go func() { panic("in another goroutine") }()
		<-ctx.Done()
	case "hang":
		_ = many(50, emit)
		select {}
	case "busyhang":
		every, err := time.ParseDuration(arg)
		if err != nil {
			return nil, err
		}
		for range 6 {
			time.Sleep(every)
			call.Progress("still here")
		}
		return nil, emit(one("1", "alive"))
	case "wait":
		_ = emit(one("1", os.Getpid()))
		<-ctx.Done()
		return nil, ctx.Err()
	case "child":
		command := exec.Command("/proc/self/exe", "sleep")
		if err := command.Start(); err != nil {
			return nil, err
		}
		return nil, emit(one("1", command.Process.Pid))
	case "orphan":
		command := exec.Command("/proc/self/exe", "sleep")
		if err := command.Start(); err != nil {
			return nil, err
		}
		for range 50 {
			_ = emit(one("1", command.Process.Pid))
		}
		time.Sleep(300 * time.Millisecond)
		os.Exit(4)
	case "garbage":
		for range 70 {
			_ = emit(stage.Record{Ref: stage.Ref{Platform: "no such platform!", ExternalID: "1"}})
		}
		return nil, nil
	case "odd":
		return nil, oddities(emit)
	case "big":
		r := one("1", "")
		r.Evidence = &stage.Evidence{}
		text := strings.Repeat("x", 2<<20)
		r.Evidence.Spoken = &text
		return nil, emit(one("2", verdict(emit(r))))
	case "stdout":
		fmt.Println("a word on stdout")
		_, _ = syscall.Write(1, []byte("straight to the pipe\n"+strings.Repeat("y", 1<<20)+"\n"))
		_, _ = syscall.Write(2, []byte(`{"@message":5,"@level":[],"@timestamp":{}}`+"\n"))
		call.Log.Info("a word in the log", "token", call.Secrets["token"])
		return nil, emit(one("1", "done"))
	case "renew": // a secret, by the value behind the comma
		name, value, _ := strings.Cut(arg, ",")
		err := call.KeepToken(ctx, name, value)
		call.Log.Info("renewed", "by", value)
		return nil, emit(one("1", verdict(err)+call.Secrets[name]))
	case "remember":
		return nil, emit(one("1", verdict(call.Remember(ctx, arg, []byte("page")))))
	case "recall":
		_, _, err := call.Recall(ctx, arg, time.Time{})
		return nil, emit(one("1", verdict(err)))
	case "read":
		raw, err := os.ReadFile(arg)
		return nil, emit(one("1", verdict(err)+string(raw)))
	case "list":
		_, err := os.ReadDir(arg)
		return nil, emit(one("1", verdict(err)))
	case "exec":
		command := exec.Command(arg, "sleep")
		err := command.Start()
		if err == nil {
			err = command.Process.Kill()
			_ = command.Wait()
		}
		return nil, emit(one("1", verdict(err)))
	case "write":
		return nil, emit(one("1", verdict(os.WriteFile(arg, []byte("x"), 0o600))))
	case "scratch":
		return nil, emit(one(call.Scratch, verdict(os.WriteFile(call.Scratch+"/x", []byte("x"), 0o600))))
	case "dial":
		network, address, _ := strings.Cut(arg, ",")
		connection, err := (&net.Dialer{Timeout: time.Second}).Dial(network, address)
		if err == nil {
			_ = connection.Close()
		}
		return nil, emit(one("1", verdict(err)))
	case "memory":
		var hoard [][]byte
		for range 1 << 14 {
			page := make([]byte, 1<<20)
			for i := 0; i < len(page); i += 4096 {
				page[i] = 1
			}
			hoard = append(hoard, page)
		}
		return nil, emit(one("1", len(hoard)))
	case "children": // which have more memory together than no limit of one process counts
		for range 6 {
			if err := exec.Command("/proc/self/exe", os.Args[1], "hoarder").Start(); err != nil {
				return nil, err
			}
		}
		time.Sleep(time.Minute)
	case "busy":
		return nil, stage.Busyf(time.Minute, "the site is busy, token %s", call.Secrets["token"])
	case "spent":
		return nil, call.Spend(ctx, arg, 1)
	case "spend":
		return nil, spend(ctx, call, arg, emit)
	case "quota":
		return nil, fmt.Errorf("page 2: %w", stage.Quotaf(time.Now().Add(time.Hour), "spent"))
	case "refused":
		return nil, stage.Refusedf("bad token")
	case "plain":
		return nil, errors.New("broke")
	}
	return nil, stage.Misconfiguredf("unknown term %q", seeds[0].Term)
}

// spend asks for quotas as `units,3;tags,espresso` says, all at once, and tells
// of each what came of it.
func spend(ctx context.Context, call *stage.Call, wishes string, emit func(stage.Record) error) error {
	var all sync.WaitGroup
	failed := make(chan error, 100)
	for wish := range strings.SplitSeq(wishes, ";") {
		all.Go(func() {
			quota, what, _ := strings.Cut(wish, ",")
			var err error
			if units, parsed := strconv.ParseInt(what, 10, 64); parsed == nil {
				err = call.Spend(ctx, quota, units)
			} else {
				err = call.SpendOn(ctx, quota, what)
			}
			failed <- emit(one(wish, verdict(err)))
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func oddities(emit func(stage.Record) error) error {
	r := one("1", "")
	r.Metadata = json.RawMessage(`{"caption":"half an emoji \ud83d","id":12345678901234567890}`)
	r.SourceURL = "https://example.com/\x00\xff"
	negative, seconds := int64(-5), int64(1_700_000_000)
	r.Metrics.Views, r.PostedAt = &negative, &seconds
	list := one("2", "")
	list.Metadata = json.RawMessage(`[1]`)
	return errors.Join(emit(r), emit(list), emit(stage.Record{}))
}

func refresh(_ context.Context, _ *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	for _, ref := range refs {
		if err := emit(stage.Record{Ref: ref}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// judge reads all before it judges, last first, as a ranking screen does.
// calls counts those of this process.
var calls int

func judge(_ context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
	calls++
	if call.Prompt == "die" {
		os.Exit(3)
	}
	if call.Prompt == "traces" { // leaves some, and says which were there
		left, _ := filepath.Glob(call.Scratch + "/*")
		call.Log.Info("looked for traces")
		err := os.WriteFile(call.Scratch+"/trace", nil, 0o600)
		return stage.Summary{Notes: []string{fmt.Sprint("call ", calls, ", files ", len(left))}}, err
	}
	var all []stage.Record
	for {
		r, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return stage.Summary{}, err
		}
		all = append(all, r)
	}
	for i := len(all) - 1; i >= 0; i-- {
		v := stage.Verdict{Ref: all[i].Ref, Rank: float64(i)}
		if i%2 == 1 {
			v.DroppedBy = "rule_1"
		}
		if err := emit(v); err != nil {
			return stage.Summary{}, err
		}
	}
	if call.Prompt == "stranger" {
		_ = emit(stage.Verdict{Ref: stage.Ref{Platform: "tiktok", ExternalID: "not asked"}})
	}
	return stage.Summary{Unclear: []string{"rule_2"}, Notes: []string{fmt.Sprint("call ", calls)}}, nil
}

// frameAll gives every video a frame, the second one no picture.
func frameAll(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	webp, err := base64.StdEncoding.DecodeString(smallest)
	if err != nil {
		return err
	}
	return findEach(next, emit, func(r stage.Record) stage.Finding {
		if r.ExternalID == "1" {
			return stage.Finding{Frames: []stage.Frame{{WebP: []byte("<svg onload=alert(1)>")}}}
		}
		return stage.Finding{Frames: []stage.Frame{{WebP: webp}}}
	})
}

// findEach emits what find says of each record.
func findEach(next func() (stage.Record, error), emit func(stage.Finding) error, find func(stage.Record) stage.Finding) error {
	for {
		r, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		finding := find(r)
		finding.Ref = r.Ref
		if err := emit(finding); err != nil {
			return err
		}
	}
}

// smallest is a WebP file of one pixel.
const smallest = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

func listen(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	calls++
	return findEach(next, emit, func(r stage.Record) stage.Finding {
		text := "heard " + r.ExternalID
		return stage.Finding{Evidence: stage.Evidence{Spoken: &text}}
	})
}
