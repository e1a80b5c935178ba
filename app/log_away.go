package app

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// sayAgain is how often a component says that the database is away.
const sayAgain = time.Minute

// sparing leaves out lines of a log that only repeat that the database or its disk is away: of each
// component, which is a package, one is written a minute, and then how many it left out. A
// request keeps its line, without the error, since that is the only record of it.
type sparing struct {
	slog.Handler
	said *said
}

// said has the lines that were left out since a component wrote one.
type said struct {
	mu      sync.Mutex
	leftOut map[string]int
}

func (s sparing) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sparing{s.Handler.WithAttrs(attrs), s.said}
}

func (s sparing) WithGroup(name string) slog.Handler {
	return sparing{s.Handler.WithGroup(name), s.said}
}

func (s sparing) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || !isAway(&r) {
		return s.Handler.Handle(ctx, r)
	}
	component := componentOf(r.PC)
	shorter := r.Message == "request" && s.Handler.Enabled(ctx, slog.LevelInfo)
	switch {
	case s.first(component, !shorter):
		r = r.Clone()
		r.AddAttrs(slog.String("component", component))
		return s.Handler.Handle(ctx, r)
	case !shorter:
		return nil
	}
	short := slog.NewRecord(r.Time, slog.LevelInfo, r.Message, r.PC)
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key != "error" {
			short.AddAttrs(attr)
		}
		return true
	})
	return s.Handler.Handle(ctx, short)
}

// first reports whether a component has written no such line lately. It counts those that are
// left out.
func (s sparing) first(component string, leftOut bool) bool {
	s.said.mu.Lock()
	defer s.said.mu.Unlock()
	if n, lately := s.said.leftOut[component]; lately {
		if leftOut {
			s.said.leftOut[component] = n + 1
		}
		return false
	}
	s.said.leftOut[component] = 0
	time.AfterFunc(sayAgain, func() { s.again(component) })
	return true
}

// again says how many lines a component left out; that is its line of this minute.
func (s sparing) again(component string) {
	s.said.mu.Lock()
	n := s.said.leftOut[component]
	if s.said.leftOut[component] = 0; n == 0 {
		delete(s.said.leftOut, component)
	}
	s.said.mu.Unlock()
	if n > 0 {
		slog.New(s.Handler).Warn(fmt.Sprintf("the database or its disk could not work: %d more lines that said so were left out", n), "component", component)
		time.AfterFunc(sayAgain, func() { s.again(component) })
	}
}

// isAway reports whether a line says that the database cannot be reached.
func isAway(r *slog.Record) (away bool) {
	r.Attrs(func(attr slog.Attr) bool {
		switch value := attr.Value.Any().(type) {
		case error:
			away = store.Unable(value)
		case string: // the queue's library logs errors as texts
			away = (attr.Key == "err" || attr.Key == "error") && lostText(value)
		}
		return !away
	})
	return away
}

// lostText is store.Unable for an error that is only a text.
func lostText(text string) bool {
	for _, part := range []string{"failed to connect", "connect: ", "connection reset", "conn closed", "conn busy", "closed pool", "unexpected EOF", "SQLSTATE 57P", "SQLSTATE 08", "SQLSTATE 53", "SQLSTATE 58", "timeout", "deadline exceeded"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// componentOf is the package that writes a line; those of the queue's library are one.
func componentOf(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if strings.Contains(frame.Function, "/riverqueue/") {
		return "queue"
	}
	name, _, _ := strings.Cut(frame.Function[strings.LastIndex(frame.Function, "/")+1:], ".")
	return name
}
