package model

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"

	"github.com/scrollery/scrollery/plugins/internal/endpoint"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// meteredRetries of one question; they wait longer each time, or as long as the
	// endpoint says.
	meteredRetries = 3
	// longestTry is how long one try may take.
	longestTry = 30 * time.Second
	// longestText is the most bytes of an answer that are read.
	longestText = 1 << 20
)

// Metered is an endpoint for many short questions whose tokens are counted. Unlike an
// Endpoint's, its questions are put as they are, its answers are texts that the caller
// judges, and an error says whether a text of strangers can have brought it about.
type Metered struct {
	chat   openai.ChatCompletionService
	model  string
	budget *Budget
}

// Metering returns the call's endpoint; nil if none is set.
func Metering(call *stage.Call) (*Metered, error) {
	address, name, key := call.Settings[EndpointSetting], call.Settings[ModelSetting], call.Secrets[KeySecret]
	if address == "" {
		return nil, nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return nil, errors.New("endpoint: want an http or https address without credentials")
	}
	if name == "" {
		return nil, errors.New("model: needed with an endpoint")
	}
	options := append(endpoint.Options(call.HTTP(), address, key, longestText), option.WithMaxRetries(meteredRetries), option.WithRequestTimeout(longestTry))
	return &Metered{chat: openai.NewChatCompletionService(options...), model: name, budget: NewBudget(call)}, nil
}

// Ask puts a question whose data, which is JSON, has what strangers wrote marked by itself;
// tokens are what it cost, known or estimated.
func (e *Metered) Ask(ctx context.Context, q Question, data string) (answer string, tokens int64, err error) {
	if err := e.budget.Take(ctx, len(q.Instructions)+len(data), q.Tokens, 0); err != nil {
		return "", 0, unusable{"this account's share of the tokens of the day is used up"}
	}
	tokens = int64(len(q.Instructions)+len(data)) / bytesToken
	got, err := e.chat.New(ctx, q.params(e.model, q.Instructions, openai.UserMessage(data)))
	if err != nil {
		return "", tokens, reduced(err)
	}
	if got.Usage.TotalTokens > 0 {
		tokens = got.Usage.TotalTokens
	}
	if len(got.Choices) == 0 || got.Choices[0].Message.Content == "" || got.Choices[0].FinishReason == "length" {
		return "", tokens, ErrMisfit
	}
	return got.Choices[0].Message.Content, tokens, nil
}

// ErrMisfit is an answer that is not what a metered endpoint was asked for.
var ErrMisfit = errors.New("an answer that does not fit")

// unusable is an endpoint that is out, whatever it is asked.
type unusable struct{ why string }

func (u unusable) Error() string { return u.why }

// Out reports whether an error is of the endpoint and not of the question: a
// text may have a model think too long, answer at random, or be refused (400).
func Out(err error) bool {
	var u unusable
	return errors.As(err, &u)
}

// reduced is an error in words that may be shown: neither the address nor what the
// endpoint wrote is in it.
func reduced(err error) error {
	var refused *openai.Error
	var late interface{ Timeout() bool }
	var unreached *url.Error
	switch {
	case errors.As(err, &refused) && (refused.StatusCode == 400 || refused.StatusCode == 413 || refused.StatusCode == 422):
		return fmt.Errorf("status %d", refused.StatusCode)
	case errors.As(err, &refused):
		return unusable{fmt.Sprintf("status %d", refused.StatusCode)}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return errors.New("no answer in time")
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &unreached):
		return unusable{"no connection"}
	}
	return ErrMisfit
}
