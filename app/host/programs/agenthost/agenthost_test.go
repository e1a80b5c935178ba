package agenthost_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/programs/agenthost"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/plugins/programs/agent"
	agentv1 "github.com/scrollery/scrollery/proto/gen/scrollery/agent/v1"
)

const key = "sk-secret-of-the-operator"

// TestMain is the planner's process too: the real one, or one that misbehaves in
// the way that a first argument names.
func TestMain(m *testing.M) {
	args, serve := os.Args, agent.Main
	if len(args) > 1 && strings.HasPrefix(args[1], "bad:") {
		way := strings.TrimPrefix(args[1], "bad:")
		args, serve = append(args[:1:1], args[2:]...), func() { misbehave(way) }
	}
	host.Dispatch(args, nil, host.Main{ID: agent.ID, Serve: serve})
	os.Exit(m.Run())
}

func misbehave(way string) {
	switch way {
	case "no handshake":
		fmt.Println("<html>")
		time.Sleep(time.Hour)
	case "dies at once":
		os.Exit(3)
	default:
		agent.Serve(bad{way: way})
	}
}

// bad is a planner that does not keep to the protocol, or looks around.
type bad struct {
	agentv1.UnimplementedAgentServiceServer
	way string
}

func (b bad) Plan(stream grpc.BidiStreamingServer[agentv1.PlanRequest, agentv1.PlanResponse]) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	move := &agentv1.Move{}
	switch b.way {
	case "hangs":
		time.Sleep(time.Hour)
	case "dies":
		fmt.Fprintln(os.Stderr, "fatal: the key was", request.GetBegin().GetEndpoint().GetKey())
		os.Exit(3)
	case "ends":
		return nil
	case "gives back tokens":
		move.Answer, move.Tokens = "x", -1
	case "calls too much":
		move.Calls = make([]*agentv1.Call, 65)
		for i := range move.Calls {
			move.Calls[i] = &agentv1.Call{Tool: sandbox.ListFiles}
		}
	case "floods":
		move.Answer = strings.Repeat("x", agent.MaxMessage+1)
	case "looks around":
		move.Answer = look(request.GetBegin().GetGoal())
	}
	return stream.Send(&agentv1.PlanResponse{Move: move})
}

// look reports what the process can reach: addresses and files, parted by blanks.
func look(places string) string {
	found := []string{"environment " + strings.Join(os.Environ(), " "), "arguments " + strings.Join(os.Args, " ")}
	for _, place := range strings.Fields(places) {
		var err error
		if strings.HasPrefix(place, "/") {
			_, err = os.ReadFile(place)
		} else {
			var connection net.Conn
			if connection, err = net.DialTimeout("tcp", place, time.Second); err == nil {
				_ = connection.Close()
			}
		}
		found = append(found, fmt.Sprintf("%s %v", place, err))
	}
	return strings.Join(found, "\n")
}

// setup returns the planner for an endpoint; way is empty for the real process. Only one that
// hangs is given up soon: a busy machine may take its time.
func setup(t *testing.T, address, way string, log *slog.Logger) sandbox.Planner {
	t.Helper()
	timeout := time.Minute
	if way == "hangs" {
		timeout = time.Second
	}
	return setupWithin(t, timeout, address, way, log)
}

// setupWithin is setup with the time that the endpoint has for an answer.
func setupWithin(t *testing.T, timeout time.Duration, address, way string, log *slog.Logger) sandbox.Planner {
	t.Helper()
	cfg := host.Config{Start: time.Minute, ScratchDir: t.TempDir()}
	if way != "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Self = []string{self, "bad:" + way}
	}
	if way == "no handshake" {
		cfg.Start = 2 * time.Second
	}
	plugins, err := host.New(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugins.Close() })
	endpoint := agent.Defaults()
	endpoint.URL, endpoint.Model, endpoint.Key = address+"/v1", "some-model", key
	endpoint.Timeout, endpoint.AtOnce = timeout, 1
	return agenthost.New(plugins.Processes, endpoint)
}

// planners are the processes below this one.
// planners are the grandchildren: the first process of each box is their parent.
func planners(t *testing.T) (found []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("processes are found in /proc")
	}
	parents := map[int]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, _ := bytes.Cut(status, []byte("\nPPid:\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		parents[pid], _ = strconv.Atoi(string(line))
	}
	for pid, parent := range parents {
		if parents[parent] == os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}

// refused reports whether an attempt ended in the error of a closed or a missing thing.
func refused(text string) bool {
	return strings.Contains(text, "permission denied") || strings.Contains(text, "no such file")
}

func silence() *slog.Logger { return slog.New(slog.DiscardHandler) }

// serve is an endpoint that answers, once it may.
func serve(t *testing.T, asked chan<- *http.Request, may <-chan struct{}) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the caller has gone
		if asked != nil {
			asked <- r
		}
		select {
		case <-may:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"done"}}],"usage":{"total_tokens":10}}`)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

func open() chan struct{} {
	may := make(chan struct{})
	close(may)
	return may
}

func TestPlannersThatMisbehave(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{
		"no handshake":      "start the planner",
		"dies at once":      "start the planner",
		"hangs":             "no sign of life",
		"dies":              "exit status 3",
		"ends":              "ended the conversation",
		"says nothing":      "without sense",
		"gives back tokens": "without sense",
		"calls too much":    "without sense",
		"floods":            "larger than max",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			planner := setup(t, "http://127.0.0.1:1", way, slog.New(slog.NewTextHandler(&log, nil)))
			for range 2 { // the place of the first is free again
				session := planner.Begin("goal")
				move, err := session.Next(t.Context(), nil)
				session.Close()
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v, %v; want %q", move, err, want)
				}
				if text := fmt.Sprint(err, log.String()); strings.Contains(text, key) {
					t.Errorf("the key is in %s, want without %v", text, key)
				}
			}
		})
	}
}

// The process gets the conversation, and reaches nothing else.
func TestThePlannerIsConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a box")
	}
	t.Setenv("SCROLLERY_STRIPE_SECRET_KEY", "sk_of_the_host")
	address, other := serve(t, nil, open()), serve(t, nil, open())
	host := strings.TrimPrefix(other, "http://")
	secret := t.TempDir() + "/scrollery.db"
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := setup(t, address, "looks around", silence()).Begin(host + " " + secret + " /etc/passwd /proc/1/environ")
	defer session.Close()
	move, err := session.Next(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{host, secret, "/etc/passwd", "/proc/1/environ"} {
		if _, rest, found := strings.Cut(move.Answer, "\n"+want+" "); !found || !refused(strings.SplitN(rest, "\n", 2)[0]) {
			t.Errorf("%s is within reach:\n%s", want, move.Answer)
		}
	}
	if strings.Contains(move.Answer, "sk_of_the_host") || strings.Contains(move.Answer, key) || strings.Contains(move.Answer, "STRIPE") {
		t.Errorf("got %s, want no key and no variable of the host in it", move.Answer)
	}
}

func TestTheKeyIsNowhereToBeSeen(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are looked at in /proc")
	}
	asked, may := make(chan *http.Request, 1), make(chan struct{})
	planner := setup(t, serve(t, asked, may), "", silence())
	session := planner.Begin("goal")
	defer session.Close()
	done := make(chan error, 1)
	go func() {
		_, err := session.Next(t.Context(), nil)
		done <- err
	}()
	request := <-asked
	if request.Header.Get("Authorization") != "Bearer "+key {
		t.Errorf("the endpoint got no key: got %v, want %v", request.Header.Get("Authorization"), "Bearer "+key)
	}
	for _, pid := range planners(t) {
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			if err != nil || bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte("goal")) {
				t.Errorf("%s of process %d: got %q, %v, want it without the key and the goal", file, pid, text, err)
			}
		}
	}
	close(may)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A process that is killed, and one that is stopped.
func TestAProcessThatIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		within time.Duration // the signal comes sooner
		want   string
	}{
		"killed":  {syscall.SIGKILL, time.Minute, "signal: killed"},
		"stopped": {syscall.SIGSTOP, 4 * time.Second, "no sign of life"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan *http.Request, 1)
			planner := setupWithin(t, c.within, serve(t, asked, nil), "", silence())
			session := planner.Begin("goal")
			done := make(chan error, 1)
			go func() {
				_, err := session.Next(t.Context(), nil)
				done <- err
			}()
			<-asked
			pids := planners(t)
			if len(pids) != 1 {
				t.Fatalf("processes: %v, want 1", pids)
			}
			if err := syscall.Kill(pids[0], c.signal); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			session.Close()
			if left := planners(t); len(left) != 0 {
				t.Errorf("still there: %v, want none", left)
			}
		})
	}
}

func TestTheTimeOfTheGoalEndsAMove(t *testing.T) {
	t.Parallel()
	asked := make(chan *http.Request, 1)
	session := setup(t, serve(t, asked, nil), "", silence()).Begin("goal")
	defer session.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the time is up")
	go func() {
		<-asked
		cancel(reason)
	}()
	if _, err := session.Next(ctx, nil); !errors.Is(err, reason) {
		t.Error(err)
	}
}

// While one conversation has the only place, the next one waits for it.
func TestConversationsWaitForAPlace(t *testing.T) {
	t.Parallel()
	planner := setup(t, serve(t, nil, open()), "", silence())
	first := planner.Begin("goal")
	if err := first.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	second := planner.Begin("goal")
	if err := second.Enter(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a place: got %v, want the end of the time", err)
	}
	second.Close()
	first.Close()
	third := planner.Begin("goal")
	defer third.Close()
	if err := third.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if move, err := third.Next(t.Context(), nil); err != nil || move.Answer != "done" || move.Tokens != 10 {
		t.Errorf("got %+v, %v, want the answer done for 10 tokens", move, err)
	}
}
