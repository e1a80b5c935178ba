package pluginhost

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// stranger starts the plugin as another host would, of another protocol: it must
// say so and leave.
func (c *checker) stranger(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.host.config.Start)
	defer cancel()
	terms := stageContract()
	terms.handshake.MagicCookieValue = "research-stage-0"
	out := &output{log: c.host.log, redact: redactor(nil)}
	p, err := c.host.launch(ctx, c.entry.id, c.host.config.Memory, terms, out, nil, func(folder string) ([]string, error) {
		return c.host.argv(c.entry, c.spec, given{}, folder, nil)
	})
	if err == nil {
		p.stop()
		return errors.New("does not look at SCROLLERY_STAGE: it serves a host of another protocol")
	}
	ended := failedProcess(err)
	if ended == nil {
		return err
	}
	select {
	case <-ended.runner.exited:
	case <-time.After(exitWait):
		return errors.New("does not leave when the protocol is another")
	}
	var exit *exec.ExitError
	if !errors.As(ended.runner.exit, &exit) || exit.ExitCode() != 1 {
		return fmt.Errorf("where the protocol is another, it ends with %v instead of exit status 1", ended.runner.exit)
	}
	if out.last() == "" {
		return errors.New("says nothing on stderr where the protocol is another")
	}
	return nil
}

// others asks a source for nothing by the verbs that it says it has.
func (c *checker) others(ctx context.Context) error {
	type opener = func(context.Context, stagev1.StageServiceClient) (stream, error)
	for _, one := range []struct {
		name string
		has  bool
		open opener
	}{
		{"Refresh", c.also.refreshes, func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Refresh(ctx) }},
		{"Media", c.also.fetches, func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Media(ctx) }},
	} {
		if !one.has {
			continue
		}
		v := verb{
			kind: c.spec.Kind, name: one.name, open: one.open, unasked: []*stagev1.Input{{Last: true}},
			take: func(*stagev1.CallResponse) (tally, error) {
				return tally{}, errors.New("answers though it was asked for nothing")
			},
		}
		err := c.with(ctx, func(ctx context.Context, p *process) error {
			_, err := c.talk(ctx, p, v, given{})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// discreet hands over secrets that nobody knows, and looks for them in all that
// the plugin says: the house would blot them out, but others may not.
func (c *checker) discreet(ctx context.Context) error {
	secret := "check-" + rand.Text()
	secrets := map[string]string{}
	for _, name := range c.spec.Secrets {
		secrets[name] = secret
	}
	if len(secrets) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.host.config.Start)
	defer cancel()
	heard := &seeker{secret: secret}
	out := &output{log: slog.New(slog.NewTextHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug})), redact: redactor(nil)}
	p, err := c.host.launch(ctx, c.entry.id, c.host.config.Memory, stageContract(), out, nil, func(folder string) ([]string, error) {
		return c.host.argv(c.entry, c.spec, given{}, folder, nil)
	})
	if err != nil {
		return err
	}
	defer p.stop()
	p.stage = stagev1.NewStageServiceClient(p.connection)
	err = c.converse(ctx, p, samples(), given{secrets: secrets}, func(message *stagev1.CallResponse) {
		raw, _ := proto.Marshal(message)
		_, _ = heard.Write(raw)
	})
	p.stop()
	<-p.runner.exited // its last words are read
	if heard.heard() || err != nil && strings.Contains(err.Error(), secret) {
		return errors.New("says a secret in its log or its answers")
	}
	return err
}

// seeker hears a secret in what is written, wherever it is cut.
type seeker struct {
	secret string
	mu     sync.Mutex
	rest   []byte
	hit    bool
}

func (s *seeker) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, text...)
	s.hit = s.hit || bytes.Contains(s.rest, []byte(s.secret))
	s.rest = append([]byte(nil), s.rest[max(0, len(s.rest)-len(s.secret)):]...)
	return len(text), nil
}

func (s *seeker) heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hit
}

// samples are records of nobody, as odd as real ones and as big as may be.
func samples() []stage.Record {
	views, posted := int64(1234), int64(1_780_000_000_000)
	all := []stage.Record{
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}},
		{
			Ref: stage.Ref{Platform: "youtube", ExternalID: "-_x"}, PostedAt: &posted,
			Metadata: []byte(`{"caption":"Größe 🎈 #ad","hashtags":["ad"],"n":12345678901234567890}`),
			Metrics:  stage.Metrics{Views: &views},
			Cues:     []stage.Cue{{Start: 0, End: 900, Text: "hello"}},
		},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "3"}, Metadata: []byte(`{"caption":{"not":"a text"},"hashtags":"nor a list","durationSeconds":-1e300}`)},
		{
			Ref: stage.Ref{Platform: "instagram", ExternalID: "4"}, SourceURL: "javascript:alert(1)",
			Metadata: []byte(`{"caption":"` + strings.Repeat("ignore all rules ", 15_000) + `"}`),
			Cues:     []stage.Cue{{Start: 9, End: 3, Text: strings.Repeat("x", 100_000)}, {Start: -1, End: -1}},
			Stickers: []stage.Sticker{{Text: "\u202e\u0000\ufffd"}, {}},
		},
	}
	for i := range 200 {
		all = append(all, stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprintf("many-%d", i)}})
	}
	return all
}
