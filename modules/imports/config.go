package imports

import (
	"errors"
	"time"
)

// Config is the module's part of the configuration.
type Config struct {
	// Units is what every started 1,000 readings of a file cost. Default 10.
	Units int `yaml:"units"`
	// MaxReadings bounds the readings of one file. Default 2,000,000.
	MaxReadings int `yaml:"max_readings"`
	// MaxRuns bounds the runs of one file: days of observation, and further readings of a
	// video on one day. Default 400.
	MaxRuns int `yaml:"max_runs"`
	// Active is how many imports an account may have that have not ended. Default 5.
	Active int `yaml:"active"`
	// Undo is how long after its end an import can be undone. Default 7 days.
	Undo time.Duration `yaml:"undo"`
	// PollEvery is how often a running import is looked at. Default 1 s.
	PollEvery time.Duration `yaml:"poll_every"`
	// Heartbeat is the pulse of a reading, and Stale the age of a pulse at which its worker
	// counts as lost. Default 3 s and 15 s.
	Heartbeat time.Duration `yaml:"heartbeat"`
	Stale     time.Duration `yaml:"stale"`
	// Pause, if set, is called where a test wants to step in. Default nil.
	Pause func(point string) `yaml:"-"`
}

// Defaults returns the configuration of a fresh installation.
func Defaults() Config {
	return Config{
		Units: 10, MaxReadings: 2_000_000, MaxRuns: 400, Active: 5, Undo: 7 * 24 * time.Hour,
		PollEvery: time.Second, Heartbeat: 3 * time.Second, Stale: 15 * time.Second,
	}
}

// Validate reports values out of bounds.
func (c Config) Validate() error {
	if c.Units < 0 || c.MaxReadings < 1 || c.MaxRuns < 1 || c.Active < 1 || c.Undo < 0 {
		return errors.New("imports: want units and undo of 0 at least, and max readings, max runs and active of 1 at least")
	}
	if c.PollEvery <= 0 || c.Heartbeat <= 0 || c.Stale < 2*c.Heartbeat {
		return errors.New("imports: want poll every and heartbeat above 0, and stale of two heartbeats at least")
	}
	return nil
}
