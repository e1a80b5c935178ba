package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
)

// Prefix of every environment variable of ours.
const Prefix = "SCROLLERY_"

// A Setting is one value that an operator may give as a flag (--base-url), an
// environment variable (SCROLLERY_BASE_URL) or a top-level key of the
// configuration file (base_url). The flag wins, then the variable, then the file.
type Setting struct {
	// Name as in the environment, without the prefix.
	Name string
	// Secret values can also be read from the file that NAME_FILE names, and have
	// no flag, since flags show in process lists.
	Secret bool
	Usage  string
	// Default is the text shown in help.
	Default string
	set     func(*Config, string) error
}

// Flag is the setting's name as a flag.
func (s Setting) Flag() string { return strings.ReplaceAll(strings.ToLower(s.Name), "_", "-") }

// Load reads the configuration: defaults, then the YAML file that --config or
// SCROLLERY_CONFIG names, then the environment, then flags, which are by Flag
// name. Every fault is reported, not only the first.
func Load(environ func(string) (string, bool), flags map[string]string) (Config, error) {
	cfg := Defaults()
	file, given := flags["config"]
	if !given {
		file, _ = environ(Prefix + "CONFIG")
	}
	if file != "" {
		if err := cfg.readFile(file); err != nil {
			return Config{}, err
		}
	}
	var faults []error
	for _, setting := range Settings() {
		text, found, err := setting.lookUp(environ, flags)
		if err == nil && found {
			err = setting.set(&cfg, text)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%s: %w", Prefix, setting.Name, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Config{}, err
	}
	return cfg, cfg.Complete()
}

func (s Setting) lookUp(environ func(string) (string, bool), flags map[string]string) (text string, found bool, err error) {
	if text, found = flags[s.Flag()]; found {
		return text, true, nil
	}
	text, found = environ(Prefix + s.Name)
	if !s.Secret {
		return text, found, nil
	}
	path, fromFile := environ(Prefix + s.Name + "_FILE")
	switch {
	case fromFile && found:
		return "", false, fmt.Errorf("both %s and %s_FILE are set: unset one", s.Name, s.Name)
	case fromFile:
		content, err := os.ReadFile(path)
		return strings.TrimSpace(string(content)), true, err
	}
	return text, found, nil
}

func (c *Config) readFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the configuration: %w", err)
	}
	defer file.Close()
	if err := yaml.NewDecoder(file, yaml.Strict()).Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
