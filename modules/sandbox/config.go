package sandbox

import (
	"errors"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

// Config is the sandbox's part of the configuration.
type Config struct {
	// Dir holds one folder for each account, with SQLite. The app sets it, below the data
	// folder.
	Dir string `yaml:"-"`
	// Files bound an account's folder.
	Files files.Limits `yaml:"files"`
	// Runs bound a run of a program.
	Runs RunLimits `yaml:"runs"`
	// Agent bounds the agent.
	Agent AgentLimits `yaml:"agent"`
}

// AgentLimits bound the work towards one goal.
type AgentLimits struct {
	// Fee in credits. 50 by default.
	Fee int64 `yaml:"fee"`
	// Steps that an agent may take. 12 by default.
	Steps int `yaml:"steps"`
	// Wait is how long a call waits for the planner before it is refused. 15 s by default.
	Wait time.Duration `yaml:"wait"`
	// Time that it may take. 60 s by default.
	Time time.Duration `yaml:"time"`
	// Tokens that its planner may use up. 100,000 by default.
	Tokens int64 `yaml:"tokens"`
	// Credits that its runs may cost, besides the fee. 60 by default.
	Credits int64 `yaml:"credits"`
}

// RunLimits bound a run of a program.
type RunLimits struct {
	// Time is how long a program may run. 10 s by default.
	Time time.Duration `yaml:"time"`
	// Memory is what a program's values may take, in bytes. 64 MiB by default.
	Memory int64 `yaml:"memory"`
	// Output is the most bytes that a program may print. 64 KiB by default.
	Output int64 `yaml:"output"`
	// AtOnce is how many programs run at a time; further ones wait. 8 by default.
	AtOnce int `yaml:"at_once"`
}

// Defaults is the config without settings of the operator.
func Defaults() Config {
	return Config{
		Files: files.Defaults(),
		Runs:  RunLimits{Time: 10 * time.Second, Memory: 64 << 20, Output: 64 << 10, AtOnce: 8},
		Agent: AgentLimits{Fee: 50, Steps: 12, Wait: 15 * time.Second, Time: time.Minute, Tokens: 100_000, Credits: 60},
	}
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	return errors.Join(c.Files.Validate(), c.Runs.validate(), c.Agent.validate())
}

func (r RunLimits) validate() error {
	if r.Time <= 0 || r.Memory < 1<<20 || r.Memory > 1<<30 || r.Output < 1 || r.Output > 4<<20 || r.AtOnce < 1 {
		return errors.New("runs: want time and one run at least, memory of 1 MiB to 1 GiB, output of at most 4 MiB")
	}
	return nil
}

func (a AgentLimits) validate() error {
	if a.Fee < 1 || a.Steps < 2 || a.Wait <= 0 || a.Time <= 0 || a.Tokens < 1 || a.Credits < 0 {
		return errors.New("agent: want a fee, two steps, time to wait and to work, and a token at least")
	}
	return nil
}
