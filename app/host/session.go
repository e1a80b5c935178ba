package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Session is the calls of one scroll. The built-in stages of Config.Together share one
// process in it, which nothing of another scroll ever reaches; any other stage has a
// process for each call. The caller closes it. Its methods may be called at the same time.
type Session struct {
	host *Host

	mu     sync.Mutex
	busy   bool // a call uses the process
	closed bool
	shared *process // nil until the first call, and after an idle time or an error
	idle   *time.Timer
}

// sessionIdle is how long a session keeps its process between two calls: from one step
// of a scroll to the next it takes less, but collecting may take minutes.
const sessionIdle = 5 * time.Second

// Session begins the calls of one scroll.
func (h *Host) Session() *Session { return &Session{host: h} }

// Close ends the process of the session. A call that uses it fails.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	p := s.release()
	s.mu.Unlock()
	if p != nil {
		p.stop()
	}
}

// release forgets the process, which the caller stops unless a call uses it.
func (s *Session) release() *process {
	p := s.shared
	if s.shared = nil; p != nil && s.busy {
		p.runner.kill() // its call stops it
		return nil
	}
	return p
}

// engage returns the process for a call, and what ends the call's use of it.
func (s *Session) engage(ctx context.Context, e *entry, run stage.Run, given given) (p *process, leave func(clean bool), err error) {
	if s != nil && slices.Contains(s.host.config.Together, e.id) && s.enter() {
		return s.join(ctx, e, run, given)
	}
	return nil, nil, errAlone
}

// errAlone is the answer to a call that needs a process of its own.
var errAlone = errors.New("not shared")

// enter reports whether the caller may use the process.
func (s *Session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy || s.closed {
		return false
	}
	s.busy = true
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

func (s *Session) join(ctx context.Context, e *entry, run stage.Run, own given) (*process, func(bool), error) {
	r, err := s.host.together(e, run, own)
	s.mu.Lock()
	p := s.shared
	other := p != nil && (p.recipe != r.key || p.gone())
	if other {
		s.shared = nil
	}
	s.mu.Unlock()
	if other {
		p.stop() // it may do what this call must not, or less; or it ended by itself
		p = nil
	}
	if p == nil && err == nil {
		if p, err = s.host.Processes.start(ctx, r.entry, r.entry.spec, r.given); err == nil {
			p.recipe = r.key
			go func() {
				<-p.runner.ended
				s.rest(p)
			}()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.busy = false
		return nil, nil, err
	}
	if s.shared = p; s.closed {
		s.shared = nil
		p.runner.kill()
	}
	return p, func(clean bool) { s.leave(p, clean) }, nil
}

// leave keeps the process for the next call, unless something went wrong in this one or
// the process has ended.
func (s *Session) leave(p *process, clean bool) {
	s.mu.Lock()
	s.busy = false
	if clean && !s.closed && !p.gone() {
		s.idle = time.AfterFunc(sessionIdle, func() { s.rest(p) })
		s.mu.Unlock()
		return
	}
	s.shared = nil
	s.mu.Unlock()
	p.stop()
}

// rest stops a process that was not used for a while, or that has ended.
func (s *Session) rest(p *process) {
	s.mu.Lock()
	if s.busy || s.shared != p {
		s.mu.Unlock()
		return
	}
	s.shared = nil
	s.mu.Unlock()
	p.stop()
}

// recipe is how the process of several built-in stages is started. It is of the
// operator's settings alone, but for the scroll's name, and all that the process may do.
type recipe struct {
	entry *entry
	given given
	// key is the same for recipes that differ in the scroll at most.
	key string
}

// together is the recipe of the process of some built-in stages, of which e is one: it may
// do what any of them may, and gets the settings of a call with the call. What a stage
// lacks that is not called does not matter.
func (h *Host) together(e *entry, run stage.Run, own given) (recipe, error) {
	all := given{scroll: own.scroll, secrets: map[string]string{}, settings: map[string]string{}}
	whole := &entry{builtin: true}
	var ids, files []string
	for _, id := range h.config.Together {
		one := h.plugins.entry(id)
		if one == nil || !one.builtin {
			continue
		}
		ids = append(ids, id)
		g := own
		if id != e.id {
			g, _ = h.grants.give(one, one.spec, run, nil) // accounts set nothing for what is called in none of their calls
		}
		for name, secret := range g.secrets {
			all.secrets[id+"."+name] = secret
		}
		reads, err := g.files()
		if err != nil && id == e.id {
			return recipe{}, err
		}
		for _, path := range reads {
			files = append(files, identity(path))
		}
		all.reads = append(all.reads, reads...)
		all.endpoints, all.own = append(all.endpoints, g.endpoints...), append(all.own, g.own...)
		whole.spec.Hosts = append(whole.spec.Hosts, one.spec.Hosts...)
		whole.spec.Programs = append(whole.spec.Programs, one.spec.Programs...)
		whole.spec.Limits.Memory = max(whole.spec.Limits.Memory, h.Processes.memory(one.spec))
	}
	whole.id = strings.Join(ids, " ")
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %d", whole.spec.Hosts, whole.spec.Programs,
		all.endpoints, all.own, all.reads, files, all.secrets, whole.spec.Limits.Memory))
	return recipe{whole, all, string(key[:])}, nil
}

// addressed names the stage that a call of a shared process is for.
func addressed(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, stage.IDKey, id)
}

// alone is for calls of no scroll: each has a process of its own.
func (h *Host) alone() *Session { return &Session{host: h, closed: true} }

// Collect is [Session.Collect] in a process of its own.
func (h *Host) Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	return h.alone().Collect(ctx, id, run, seeds, emit)
}

// Plan is [Session.Plan] in a process of its own.
func (h *Host) Plan(ctx context.Context, id string, run stage.Run, seeds []stage.Seed) ([]stage.Seed, error) {
	return h.alone().Plan(ctx, id, run, seeds)
}

// Screen is [Session.Screen] in a process of its own.
func (h *Host) Screen(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Verdict) error) (stage.Summary, error) {
	return h.alone().Screen(ctx, id, run, next, emit)
}

// Evidence is [Session.Evidence] in a process of its own.
func (h *Host) Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error {
	return h.alone().Evidence(ctx, id, run, next, emit)
}
