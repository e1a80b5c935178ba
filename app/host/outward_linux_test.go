package host_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// fastOpen sends without connecting first, past what watches connections.
func fastOpen(address string) (string, error) {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return "", err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	const fastopen = 0x20000000
	return "through", syscall.Sendto(fd, []byte("x"), fastopen, &syscall.SockaddrInet4{Port: int(target.Port()), Addr: target.Addr().As4()})
}

// visited is a server that no stage should reach.
func visited(t *testing.T, network, address string) (string, *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	visits := &atomic.Int64{}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = connection.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String(), visits
}

// outside is all that a stage should reach, and much that it should not.
type outside struct {
	double          *httptest.Server
	other, database string
	visits          []*atomic.Int64
	secret          string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{secret: filepath.Join(t.TempDir(), "scrollery.db")}
	other, visits := visited(t, "tcp", "127.0.0.1:0")
	o.other, o.visits = other, append(o.visits, visits)
	write(t, o.secret, "the database")
	o.database = filepath.Join(t.TempDir(), ".s.PGSQL.5432")
	_, visits = visited(t, "unix", o.database)
	o.visits = append(o.visits, visits)
	o.double = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://"+o.other+"/", http.StatusFound)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".mp4") {
			w.Header().Set("Content-Type", "video/mp4")
		}
		fmt.Fprint(w, "the double", r.URL.RawQuery, r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(o.double.Close)
	return o
}

// resolver knows one name that leads into the private network, and one that is
// public and cannot be reached from a test.
func resolver(_ context.Context, host string) ([]netip.Addr, error) {
	switch host {
	case "inside.example.com.":
		return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("64:ff9b::7f00:1")}, nil
	case "a.wild.example.com.":
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}
	return nil, fmt.Errorf("no such host %q", host)
}

func (o *outside) setup(t *testing.T) *bundle {
	return setup(t, func(c *host.Config) {
		api := map[string]string{"api": o.double.URL}
		c.Settings = map[string]map[string]string{"outward": api, "runner": api}
		c.Lookup = resolver
	})
}

// attempts runs the terms in one call and answers what each of them found.
func (b *bundle) attempts(t *testing.T, id string, terms ...string) []string {
	t.Helper()
	var seeds []stage.Seed
	for _, term := range terms {
		seeds = append(seeds, stage.Seed{Term: term})
	}
	var all []string
	_, err := b.Collect(t.Context(), id, stage.Run{}, seeds, func(batch []stage.Record) error {
		for _, r := range batch {
			all = append(all, found(t, r))
		}
		return nil
	})
	if err != nil || len(all) != len(terms) {
		t.Fatalf("got %d answers, %v, want one to each of %d attempts", len(all), err, len(terms))
	}
	return all
}

// TestEgress is the bar: a stage reaches what its spec names and what the operator
// set, and neither others, nor the database, nor the host's files.
func TestEgress(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	b := o.setup(t)
	double := strings.TrimPrefix(o.double.URL, "http://")
	postgres := "127.0.0.1:5432"
	abstract, abstractVisits := visited(t, "unix", "@scrollery-egress-"+filepath.Base(t.TempDir())+double)
	o.visits = append(o.visits, abstractVisits)
	datagram := filepath.Join(t.TempDir(), "log")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: datagram, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	other := filepath.Join(t.TempDir(), "stage-1", "work", "note")
	write(t, other, "another call's")

	cases := [][2]string{
		{"get:" + o.double.URL + "/?a=%zz;b", "200 the doublea=%zz;b"},
		{"tunnel:" + double, "HTTP/1.1 200 "},
		{"get:http://" + o.other, "403 egress: the stage did not declare this host"},
		{"get:https://" + o.other, "egress: the stage did not declare this host"},
		{"get:" + o.double.URL + "/away", "403 egress: the stage did not declare this host"},
		{"get:http://elsewhere.example.com", "403 egress: the stage did not declare this host"},
		{"get:http://inside.example.com", "403 egress: the host has no public address"},
		{"get:https://a.wild.example.com", "egress: the host has no public address"},
		{"tunnel:wild.example.com:443", "HTTP/1.1 403 "},
		{"tunnel:" + postgres, "HTTP/1.1 403 "},
		{"tunnel:127.0.0.1:8080", "HTTP/1.1 403 "},
		{"tunnel:localhost:22", "HTTP/1.1 403 "},
		{"tunnel:[::1]:5432", "HTTP/1.1 403 "},
		{"credential:wrong", "407 "},
		{"dial:tcp," + double, "permission denied"},
		{"dial:tcp," + o.other, "permission denied"},
		{"dial:tcp," + postgres, "permission denied"},
		{"dial:udp,127.0.0.1:53", "permission denied"},
		{"dial:ip4:1,127.0.0.1", "denied"},
		{"fastopen:" + o.other, "connection refused"},
		{"resolve:example.com", "denied"},
		{"datagram:" + datagram, "no such file"},
		{"dial:unix," + abstract, "refused"},
		{"dial:unix," + o.database, "no such file"},
		{"read:/etc/passwd", "no such file"},
		{"read:" + o.secret, "no such file"},
		{fmt.Sprintf("read:/proc/%d/environ", os.Getpid()), "no such file"},
		{fmt.Sprintf("read:/proc/%d/root/etc/passwd", os.Getpid()), "no such file"},
		{"read:" + other, "no such file"},
	}
	var terms []string
	for _, c := range cases {
		terms = append(terms, c[0])
	}
	for i, got := range b.attempts(t, "outward", terms...) {
		if !strings.Contains(got, cases[i][1]) {
			t.Errorf("%s: %q, want %q", cases[i][0], got, cases[i][1])
		}
	}
	for i, visits := range o.visits {
		if n := visits.Load(); n > 0 {
			t.Errorf("server %d was visited %d times, want 0", i, n)
		}
	}
	log := b.log.String()
	if n := strings.Count(log, "plugin was kept from a host"); n < 6 || strings.Count(log, "host=localhost:22") != 1 || strings.Count(log, "host="+o.other) != 1 {
		t.Errorf("%d denials in the log, want one a host", n)
	}
	if !strings.Contains(log, "plugin used the network") || strings.Contains(log, "?a=") {
		t.Errorf(`the log lacks the traffic, or has a query in it: got %q, want log with "plugin used the network" and log without "?a="`, log)
	}
}

func TestProxyEndsWithItsCall(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	b := o.setup(t)
	address := b.attempts(t, "outward", "proxy:")[0]
	if !strings.HasPrefix(address, "http://call:") {
		t.Fatalf("got the proxy %s, want one with a name and password of its call", address)
	}
	_, host, _ := strings.Cut(address, "@")
	if connection, err := net.Dial("tcp", host); err == nil {
		_ = connection.Close()
		t.Error("the proxy is still there, want an error")
	}
}

func TestWithoutHostsThereIsNoNetwork(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	b := setup(t, nil)
	for term, want := range map[string]string{
		"dial:tcp," + o.other:     "permission denied",
		"dial:udp,127.0.0.1:53":   "permission denied",
		"dial:unix," + o.database: "no such file",
	} {
		t.Run(term, func(t *testing.T) {
			if got := b.found(t, "probe", term); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", term, got, want)
			}
		})
	}
}

func TestMissingProgramAndBadEndpoint(t *testing.T) {
	t.Parallel()
	missing, bad := outward(), outward()
	missing.ID, missing.Programs = "missing", []string{"sh", "no-such-program"}
	bad.ID = "bad"
	b := setup(t, func(c *host.Config) {
		c.Builtins = []stage.Spec{missing, bad, presumptuous()}
		c.Settings = map[string]map[string]string{"bad": {"api": "localhost:8080"}}
	})
	for id, want := range map[string]string{"missing": `program "no-such-program" is not installed`, "bad": `setting "api": want an http or https address`} {
		t.Run(id, func(t *testing.T) {
			if p, _ := b.Find(id); p.State != host.Unset || !strings.Contains(p.Reason, want) {
				t.Errorf("%+v, want %s because of %q", p, host.Unset, want)
			}
			_, err := b.probe(t.Context(), id, "proxy:")
			if failure := wantFailure(t, err, stage.SourceUnavailable); !failure.Setup || !strings.Contains(failure.Error(), want) {
				t.Error(err)
			}
		})
	}
	if got := b.attempts(t, "presumptuous", "get:http://127.0.0.1:1")[0]; !strings.Contains(got, "403 egress: the host has no public address") {
		t.Errorf(`a stage's own word leads into the private network: %q, want with "403 egress: the host has no public address"`, got)
	}
}

// TestPrograms runs what the evidence stages and sources run, confined as they are.
func TestPrograms(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	b := o.setup(t)
	for _, c := range []struct{ program, line, want string }{
		{"ffmpeg", "ffmpeg -v error -f lavfi -i testsrc=d=1:s=320x240 -pix_fmt yuv420p x.mp4 && ffmpeg -v error -i x.mp4 -frames:v 1 x.png && ls", "x.png"},
		{"tesseract", "ffmpeg -v error -f lavfi -i color=white:s=640x120:d=1 -vf drawtext=text=HELLO:fontsize=72:x=20:y=20 -frames:v 1 t.png && tesseract t.png - 2>&1", "HELLO"},
		{"python3", "/usr/bin/python3 -c 'import ssl, json, subprocess, urllib.request as u; subprocess.run([\"true\"], check=True); print(u.urlopen(\"" + o.double.URL + "/\").read())'", "the double"},
		{"curl", "curl -sS " + o.double.URL + "/ && curl -sS http://" + o.other + "/", "the doubleegress: the stage did not declare this host"},
		{"python3", "/usr/bin/python3 -c 'import os, shutil, tempfile; d = tempfile.mkdtemp(); open(d + \"/a\", \"w\").write(\"x\"); shutil.copyfile(d + \"/a\", d + \"/b\"); os.replace(d + \"/b\", d + \"/c\"); print(os.listdir(d)); shutil.rmtree(d)'", "'c'"},
		{"yt-dlp", "yt-dlp --ignore-config --no-cache-dir --no-mtime -o film.mp4 " + o.double.URL + "/film.mp4 && cat film.mp4", "100% of"},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/usr/bin/" + c.program); err != nil && os.Getenv("CI") == "" {
				t.Skipf("%s is not installed", c.program)
			}
			if got := b.attempts(t, "runner", "run:"+c.line)[0]; !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", c.line, got, c.want)
			}
		})
	}
}
