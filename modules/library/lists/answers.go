package lists

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/cache"
	"github.com/scrollery/scrollery/modules/library/videos"
)

const (
	// answerBytes bounds the memory for computed answers.
	answerBytes = 8 << 20
	answerLife  = 30 * time.Second
)

// question is what an account asked: a request as it is on the wire.
type question struct {
	account            int64
	operation, request string
}

type computed struct {
	stamp  stamp
	answer proto.Message
	size   int
}

func newAnswers() (cache.Of[question, computed], error) {
	return cache.New(otter.Options[question, computed]{
		MaximumWeight:    answerBytes,
		Weigher:          func(key question, value computed) uint32 { return uint32(value.size + len(key.request) + 200) },
		ExpiryCalculator: otter.ExpiryWriting[question, computed](answerLife),
	})
}

// Kept returns compute with its answers kept, which no one may change: a caller who asks 40
// times at once, or comes back to a plot, has it computed once. An answer is shown at the
// state of the library that it was made at, as a page is, and no longer than answerLife:
// readings that grow fewer with their age change no list, and raise no revision.
func Kept[Request, Answer proto.Message](s *Service, operation string, compute func(context.Context, Request) (Answer, error)) func(context.Context, Request) (Answer, error) {
	if s.pages.answers == nil {
		return compute
	}
	return func(ctx context.Context, request Request) (answer Answer, err error) {
		account, err := videos.Account(ctx)
		if err != nil {
			return answer, err
		}
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
		if err != nil {
			return answer, err
		}
		now, err := s.subjectNow(ctx)
		if err != nil {
			return answer, err
		}
		if now.revision, err = s.revision(ctx); err != nil {
			return answer, err
		}
		key := question{account, operation, string(text)}
		if known, ok := s.pages.answers.GetIfPresent(key); ok && known.stamp == now {
			return known.answer.(Answer), nil
		}
		if answer, err = compute(ctx, request); err == nil {
			s.pages.answers.Set(key, computed{now, answer, proto.Size(answer)})
		}
		return answer, err
	}
}

// subjectNow is the part of a stamp that trends depend on beside the revision.
func (s *Service) subjectNow(ctx context.Context) (at stamp, err error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil {
		return at, err
	}
	at.subject = subject
	if exists {
		at.completed, err = s.scrolls.Completed(ctx, subject)
	}
	return at, err
}
