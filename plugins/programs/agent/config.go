// Package agent is the process that plans for the agent: it asks a chat endpoint
// what to do next. Any endpoint will do that speaks as OpenAI's does.
//
// The endpoint chooses among the tools it is shown; neither it nor the process does
// anything by itself. What tools answer is handed over as data of strangers, apart
// from the goal, and marked so. The process has one goal's conversation, and knows
// nothing of the service but what that conversation says.
package agent

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
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
	// Timeout is how long one move may take, tries included. 30 s by default.
	Timeout time.Duration `yaml:"timeout"`
	// AnswerTokens bound one answer. 2,000 by default.
	AnswerTokens int64 `yaml:"answer_tokens"`
	// AtOnce is how many goals are planned at a time; further ones wait. 16 by
	// default.
	AtOnce int `yaml:"at_once"`
}

// Defaults is a config without an endpoint.
func Defaults() Config { return Config{Timeout: 30 * time.Second, AnswerTokens: 2000, AtOnce: 16} }

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
	if _, err := c.Host(); err != nil {
		return err
	}
	if c.Timeout <= 0 || c.AnswerTokens < 1 || c.AtOnce < 1 {
		return errors.New("want a timeout, a token and one goal at a time at least")
	}
	return nil
}

// Host is where the endpoint listens, as host:port.
func (c Config) Host() (string, error) {
	address, err := url.Parse(c.URL)
	if err != nil || address.Hostname() == "" {
		return "", errors.New("url: want an address with a host")
	}
	text := address.Port()
	if text == "" {
		text = map[string]string{"https": "443", "http": "80"}[address.Scheme]
	}
	if port, err := strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
		return "", errors.New("url: want a port from 1 to 65535")
	}
	return net.JoinHostPort(address.Hostname(), text), nil
}
