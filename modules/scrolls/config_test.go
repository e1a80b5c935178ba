package scrolls

import "testing"

func TestConfig(t *testing.T) {
	t.Parallel()
	if err := Defaults().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for name, spoil := range map[string]func(*Config){
		"no default template": func(c *Config) { delete(c.Templates, "default") },
		"unknown kind":        func(c *Config) { c.Templates["x"] = Template{Kinds: []string{"friends"}} },
		"no batch":            func(c *Config) { c.BatchSize = 0 },
		"batch too large":     func(c *Config) { c.BatchSize = 5000 },
		"no heartbeat":        func(c *Config) { c.Heartbeat = 0 },
		"impatient":           func(c *Config) { c.Stale = c.Heartbeat },
		"unknown stage":       func(c *Config) { c.Deadlines["nap"] = 1 },
		"no progress kept":    func(c *Config) { c.MaxCoverage = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Defaults()
			spoil(&cfg)
			if cfg.Validate() == nil {
				t.Error("got no error, want a refusal")
			}
		})
	}
}

func TestPercentNeverFalls(t *testing.T) {
	t.Parallel()
	last := 0.0
	for _, stage := range Steps() {
		for _, fraction := range []float64{-1, 0, 0.5, 1, 2} {
			if p := percent(stage, fraction); p < last || p > 99 {
				t.Errorf("%s at %v: got %v percent after %v, want no less, and at most 99", stage, fraction, p, last)
			} else {
				last = p
			}
		}
	}
}
