package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollery/scrollery/app/demo"
	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/feed"
	"github.com/scrollery/scrollery/plugins/youtubefeed"
)

const (
	sampleEmail   = "sample@example.com"
	realEmail     = "real@example.com"
	sampleScrolls = 3
	// sampleCredits are enough for ten briefs. They are granted once.
	sampleCredits = 500
)

// ServeSample serves a fictional library: it prints the address, a key and
// commands to try. An existing library is not changed. Until then the log has
// warnings only, so that progress and key can be seen.
func ServeSample(ctx context.Context, cfg Config, out, progress io.Writer) error {
	level := new(slog.LevelVar)
	level.Set(max(cfg.LogLevel, slog.LevelWarn))
	log := NewLog(progress, level)
	switch folder := cfg.StageValues["FEED_DIR"]; folder {
	case feed.Sample:
	case "":
		if err := cfg.showSample(); err != nil {
			return err
		}
		if again := cfg.again; again != nil {
			cfg.again = func() (Config, error) {
				next, err := again()
				return next, errors.Join(err, next.showSample())
			}
		}
	default: // its scrolls would fail once all has started
		if _, err := os.ReadDir(folder); err != nil {
			return fmt.Errorf("the sample is filled from the feed folder, which must be there (leave it out for invented videos): %w", err)
		}
	}
	service, err := Start(ctx, cfg, log)
	if err != nil {
		return err
	}
	err = service.showSample(ctx, out, progress)
	if err == nil {
		level.Set(cfg.LogLevel)
		err = service.serve(ctx)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, service.Stop())
}

// showSample has the feed give the sample.
func (c *Config) showSample() error {
	c.SetStage("FEED_DIR", feed.Sample)
	return c.Complete()
}

func (s *Service) showSample(ctx context.Context, out, progress io.Writer) error {
	key, err := s.keys.CreateForEmail(viewer.System(ctx), sampleEmail, "pro", nil, 0)
	if err != nil {
		return fmt.Errorf("create a key for the sample: %w", err)
	}
	journey := sampleJourney("http://"+s.server.Address().String(), io.Discard, progress)
	if err := journey.Fill(ctx, key); err != nil {
		return fmt.Errorf("fill the sample library: %w", err)
	}
	if err := s.grantSample(ctx); err != nil {
		return fmt.Errorf("grant credits to the sample: %w", err)
	}
	offer, err := s.offerReal(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `Scrollery serves at %[1]s, with a sample library. Its creators, videos and counts are invented.
A key for it: %[2]s

%[3]s

Try:
  curl -s -H "Authorization: Bearer %[2]s" "%[1]s/v1/hooks?limit=3"
  curl -s -H "Authorization: Bearer %[2]s" "%[1]s/v1/outliers?limit=3"
  curl -s -H "Authorization: Bearer %[2]s" "%[1]s/v1/outliers/list?order=rising&limit=10"
  curl -s -H "Authorization: Bearer %[2]s" "%[1]s/v1/trends?limit=3"
  curl -s -H "Authorization: Bearer %[2]s" -H "Content-Type: application/json" -d '{}' "%[1]s/v1/briefs"
%[4]s
The service description is at %[1]s/openapi.json. Stop with Ctrl-C.
`, s.baseURL, key, s.openConsole(), offer)
	return nil
}

// grantSample gives the account of the sample credits, as the operator does: what costs
// credits, such as a brief, can be tried at once. A later start grants no more.
func (s *Service) grantSample(ctx context.Context) error {
	account, ok, err := s.keys.AccountOf(viewer.System(ctx), sampleEmail)
	if err == nil && !ok {
		err = errors.New("the account is gone")
	}
	if err != nil {
		return err
	}
	ctx = audit.As(viewer.System(ctx), audit.Operator(ctx))
	_, err = s.credits.Grant(ctx, account, sampleCredits, "grant:"+publicid.Format(publicid.Account, account)+":sample")
	return err
}

// offerReal is how to see real videos, with a key of another account: a library that mixes them
// with invented ones is of no use. It is empty if the source that needs no key is off.
func (s *Service) offerReal(ctx context.Context) (string, error) {
	if source, ok := s.plugins.Find(youtubefeed.Spec().ID); !ok || source.State != host.Ready {
		return "", nil
	}
	key, err := s.keys.CreateForEmail(viewer.System(ctx), realEmail, "pro", nil, 0)
	if err != nil {
		return "", fmt.Errorf("create a key for real videos: %w", err)
	}
	return fmt.Sprintf(`
Real videos, without a key of YouTube, in a library of their own: whom do you watch? Up to ten handles or links:
  SCROLLERY_SERVER=%s SCROLLERY_KEY=%s %s scroll try @handle @handle
`, s.baseURL, key, os.Args[0]), nil
}

// consoleLife is how long the key of the sample's one-time code lives.
const consoleLife = time.Hour

// openConsole returns the line that opens the console, signed in.
func (s *Service) openConsole() string {
	if !s.console.Present() {
		return "This binary was built without the console: install npm and run `make build` again."
	}
	code := s.codes.Issue(func(ctx context.Context) (string, error) {
		return s.keys.CreateForEmail(viewer.System(ctx), sampleEmail, "pro", nil, consoleLife)
	})
	return "Open the console, signed in (works once, within ten minutes):\n  " + s.baseURL + console.Path + "#code=" + code
}

func sampleJourney(baseURL string, out, progress io.Writer) demo.Journey {
	tour := feed.SampleBrief()
	return demo.Journey{
		BaseURL: baseURL, Email: sampleEmail, Scrolls: sampleScrolls,
		Description: tour.Description, Competitors: tour.Competitors, Rules: tour.Rules,
		Out: out, Progress: progress,
	}
}

// Demo runs the whole journey on a server of its own, with scratch data, and prints
// the answers.
func Demo(ctx context.Context, cfg Config, out, progress io.Writer) (err error) {
	scratch, err := os.MkdirTemp("", "scrollery-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	cfg.DataDir, cfg.DatabaseURL, cfg.Roles = filepath.Join(scratch, "data"), "", []string{"api", "worker"}
	cfg.SetStage("FEED_DIR", feed.Sample)
	cfg.RateLimit = false
	cfg.Addr, cfg.OpsAddr, cfg.BaseURL = "127.0.0.1:0", "127.0.0.1:0", ""
	if err := cfg.Complete(); err != nil {
		return err
	}
	service, err := Start(ctx, cfg, NewLog(progress, slog.LevelWarn))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Stop()) }()
	fmt.Fprintf(out, "A server of its own answers at %s; its data is scratch.\n", service.baseURL)
	if _, err := sampleJourney(service.baseURL, out, progress).Run(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nDone: the whole journey works.")
	return nil
}
