package api_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const watchPath = "/v1/scrolls/watch?id=a"

type sendScroll = func(status string) error

// streams is a bundle whose WatchScroll is the handler.
func streams(t *testing.T, handler func(ctx context.Context, send sendScroll) error) *bundle {
	b := setup(t)
	b.fake.stream = func(ctx context.Context, send func(*scrolleryv1.WatchScrollResponse) error) error {
		return handler(ctx, func(status string) error {
			return send(&scrolleryv1.WatchScrollResponse{Scroll: &scrolleryv1.Scroll{Status: status}})
		})
	}
	return b
}

var eventForm = regexp.MustCompile(`(?m)^id: (\S+)\ndata: (.*)\n\n`)

// statuses returns the ids and the scrolls' statuses of a body of events.
func statuses(t *testing.T, body string) (ids, found []string) {
	t.Helper()
	for _, match := range eventForm.FindAllStringSubmatch(body, -1) {
		ids = append(ids, match[1])
		status := regexp.MustCompile(`"status":"(\w+)"`).FindStringSubmatch(match[2])
		if status == nil {
			t.Fatalf("got data %s, want a scroll", match[2])
		}
		found = append(found, status[1])
	}
	return ids, found
}

func TestEventsOfAStream(t *testing.T) {
	t.Parallel()
	b := streams(t, func(_ context.Context, send sendScroll) error {
		if err := send("queued"); err != nil {
			return err
		}
		return send("completed")
	})
	got := b.call(t, "GET", watchPath, "good", "", "Accept", "text/event-stream")
	ids, found := statuses(t, got.body)
	check(t, "status", 200, got.status)
	check(t, "content type", "text/event-stream", got.header.Get("Content-Type"))
	check(t, "caching", "private, no-cache", got.header.Get("Cache-Control"))
	check(t, "statuses", []string{"queued", "completed"}, found)
	check(t, "event", outcome{Op: "watchScroll", Status: "ok", Account: 1, Units: 1}, b.events.outcome(t))
	check(t, "events", 1, b.events.count())

	t.Run("a client resumes after the event that it has", func(t *testing.T) {
		got := b.call(t, "GET", watchPath, "good", "", "Last-Event-ID", ids[0])
		_, found := statuses(t, got.body)
		check(t, "statuses", []string{"completed"}, found)
	})
	t.Run("an unknown cursor begins with the state of now", func(t *testing.T) {
		got := b.call(t, "GET", watchPath, "good", "", "Last-Event-ID", "nonsense")
		_, found := statuses(t, got.body)
		check(t, "statuses", []string{"queued", "completed"}, found)
	})
	t.Run("a stream with nothing left is 204", func(t *testing.T) {
		one := streams(t, func(_ context.Context, send sendScroll) error { return send("completed") })
		got := one.call(t, "GET", watchPath, "good", "", "Last-Event-ID", ids[1])
		check(t, "status", 204, got.status)
		check(t, "body", "", got.body)
		check(t, "events", 1, one.events.count())
	})
}

func TestAHandlerSetsItsCursors(t *testing.T) {
	t.Parallel()
	var after string
	b := streams(t, func(ctx context.Context, send sendScroll) error {
		after = api.ResumeAfter(ctx)
		api.Cursor(ctx, "c7")
		return send("queued")
	})
	got := b.call(t, "GET", watchPath, "good", "", "Last-Event-ID", "c6")
	ids, _ := statuses(t, got.body)
	check(t, "ids", []string{"c7"}, ids)
	check(t, "cursor that the handler reads", "c6", after)
}

func TestAnErrorAfterTheFirstEventIsAnEvent(t *testing.T) {
	t.Parallel()
	b := streams(t, func(_ context.Context, send sendScroll) error {
		if err := send("queued"); err != nil {
			return err
		}
		return apierr.New(apierr.NotFound, "It is gone.")
	})
	got := b.call(t, "GET", watchPath, "good", "")
	check(t, "status", 200, got.status)
	if want := "event: error\ndata: {\"error\":\"not_found\",\"message\":\"It is gone.\"}\n\n"; !strings.HasSuffix(got.body, want) {
		t.Errorf("got %q, want it to end with %q", got.body, want)
	}
}

// open starts a stream on a server whose read timeout is far shorter than the stream.
func open(t *testing.T, b *bundle) (lines *bufio.Scanner, leave func()) {
	t.Helper()
	server := httptest.NewUnstartedServer(b.mux.Handler())
	server.Config.ReadTimeout = 300 * time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "GET", server.URL+watchPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer good")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _, _ = io.Copy(io.Discard, response.Body); response.Body.Close() })
	return bufio.NewScanner(response.Body), cancel
}

func TestAStreamOutlivesTheReadTimeout(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	b := streams(t, func(ctx context.Context, send sendScroll) error {
		if err := send("queued"); err != nil {
			return err
		}
		<-ctx.Done()
		close(gone)
		return ctx.Err()
	})
	lines, leave := open(t, b)
	comment := false
	for !comment && lines.Scan() {
		comment = lines.Text() == ":"
	}
	if !comment {
		t.Fatalf("got no comment, %v; want one after a second without an event", lines.Err())
	}
	leave()
	select {
	case <-gone:
	case <-time.After(2 * time.Minute):
		t.Error("got no end of the handler within 2 min after the client left, want one")
	}
}

func TestAStoppingServerEndsStreams(t *testing.T) {
	t.Parallel()
	b := streams(t, func(ctx context.Context, send sendScroll) error {
		if err := send("queued"); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	lines, _ := open(t, b)
	var last string
	for lines.Scan() {
		if lines.Text() != "" {
			last = lines.Text()
		}
		if strings.Contains(last, "queued") {
			b.mux.EndStreams()
		}
	}
	if !strings.Contains(last, `"error":"temporary_service_error"`) {
		t.Errorf("the stream ended with %q, want temporary_service_error", last)
	}
}

func TestEventsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) { cfg.ReadmitEvery = 10 * time.Millisecond })
	b.fake.stream = func(ctx context.Context, send func(*scrolleryv1.WatchScrollResponse) error) error {
		if err := send(&scrolleryv1.WatchScrollResponse{}); err != nil {
			return err
		}
		b.revoked.Store("good", true)
		<-ctx.Done()
		return ctx.Err()
	}
	got := b.call(t, "GET", watchPath, "good", "")
	if !strings.Contains(got.body, "event: error\ndata: {\"error\":\"unauthorized\"") {
		t.Errorf("got %q, want it to end with unauthorized", got.body)
	}
}
