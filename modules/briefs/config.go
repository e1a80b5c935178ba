package briefs

import (
	"errors"
	"time"
)

// Config is the part of the configuration.
type Config struct {
	// Fee of a brief in credits; 0 for none. 50 by default.
	Fee int64 `yaml:"fee"`
	// Stage writes the sentences if it is ready; empty for the built-in composer. `brief`
	// by default.
	Stage string `yaml:"stage"`
	// Time is how long the stage may take; then the built-in composer drafts. 60 s by
	// default.
	Time time.Duration `yaml:"time"`
}

// Defaults is the config without settings of the operator.
func Defaults() Config { return Config{Fee: 50, Stage: "brief", Time: time.Minute} }

// Validate reports what cannot work.
func (c Config) Validate() error {
	if c.Fee < 0 || c.Fee > 1_000_000 || c.Time <= 0 {
		return errors.New("want a fee of 0 to 1000000 credits, and time to draft")
	}
	return nil
}
