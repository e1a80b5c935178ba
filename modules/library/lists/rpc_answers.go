package lists

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/library/videos"
)

// answerLife is how long a computed answer is kept at most: readings that grow fewer with their
// age change no list, and raise no revision.
const answerLife = 30 * time.Second

// Kept returns compute with its answers kept among the pages: a caller who asks 40 times at
// once, or comes back to a plot, has it computed once. As a page, an answer is shown at the
// state of the library that it was made at, and no longer than answerLife.
func Kept[Request, Answer proto.Message](s *Service, operation string, compute func(context.Context, Request) (Answer, error)) func(context.Context, Request) (Answer, error) {
	return func(ctx context.Context, request Request) (answer Answer, err error) {
		account, err := videos.Account(ctx)
		if err != nil {
			return answer, err
		}
		question, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
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
		// No list is the one of an answer.
		key := pageKey{account, Page{Token: operation + " " + string(question)}}
		if known, ok := s.pages.get(key, now); ok && time.Since(known.made) < answerLife {
			answer = answer.ProtoReflect().New().Interface().(Answer)
			return answer, proto.Unmarshal(known.body, answer)
		}
		if answer, err = compute(ctx, request); err != nil {
			return answer, err
		}
		if body, err := proto.Marshal(answer); err == nil {
			s.pages.put(key, rendered{stamp: now, body: body, made: time.Now()})
		}
		return answer, nil
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
