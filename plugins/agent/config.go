// Package agent asks a chat endpoint what the agent should do next. Any endpoint
// will do that speaks as OpenAI's does.
//
// The endpoint chooses among the tools it is shown; it does nothing by itself.
// What tools answer is handed over as data of strangers, apart from the goal, and
// marked so. No secret is in what it gets to see.
package agent

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config says which endpoint.
type Config struct {
	// URL is the base address, such as https://api.example.com/v1; empty for none.
	URL string `yaml:"url"`
	// Model is the endpoint's name for what answers.
	Model string `yaml:"model"`
	// Key is sent as a bearer key; empty for an endpoint that wants none.
	Key string `yaml:"key"`
	// Timeout is how long one answer may take. 30 s by default.
	Timeout time.Duration `yaml:"timeout"`
	// AnswerTokens bound one answer. 2,000 by default.
	AnswerTokens int64 `yaml:"answer_tokens"`
}

// Defaults is a config without an endpoint.
func Defaults() Config { return Config{Timeout: 30 * time.Second, AnswerTokens: 2000} }

// Validate reports an endpoint that cannot be asked.
func (c Config) Validate() error {
	if c.URL == "" {
		return nil
	}
	address, err := url.Parse(c.URL)
	if err != nil || address.Host == "" || address.User != nil || address.Scheme != "https" && address.Scheme != "http" {
		return errors.New("url: want an http or https address without credentials")
	}
	if c.Model == "" {
		return fmt.Errorf("model: needed with an endpoint")
	}
	if c.Timeout <= 0 || c.AnswerTokens < 1 {
		return errors.New("want a timeout and a token at least")
	}
	return nil
}
