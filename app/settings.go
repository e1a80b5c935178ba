package app

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Prefix is the prefix of all environment variables.
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
// name. It reports all errors, not only the first.
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
	cfg.again = func() (Config, error) { return Load(environ, flags) }
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

// readFile sets the values of the file. A key without a value changes nothing: it is
// left when the values below it are commented out.
func (c *Config) readFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("open the configuration: %w", err)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return fmt.Errorf("read %s: %s", path, withoutText(err))
	}
	if len(file.Docs) == 0 || empty(file.Docs[0].Body) {
		return nil
	}
	if len(file.Docs) > 1 {
		return fmt.Errorf("read %s: it contains more than one document", path)
	}
	var faults []error // each without its text: of joined ones, only that of YAML would be told
	for _, err := range []error{renameDoor(file.Docs[0].Body), c.takeStageValues(file.Docs[0].Body), yaml.NodeToValue(file.Docs[0].Body, c, yaml.Strict())} {
		if err != nil {
			faults = append(faults, errors.New(withoutText(err)))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// withoutText is an error of YAML without the lines of the file around it, in which secrets are.
func withoutText(err error) string { return yaml.FormatError(err, false, false) }

// renameDoor reads the part `protocols` under its former name, `door`.
func renameDoor(document ast.Node) error {
	mapping, ok := document.(*ast.MappingNode)
	if !ok {
		return nil
	}
	part := func(name string) int {
		return slices.IndexFunc(mapping.Values, func(pair *ast.MappingValueNode) bool { return pair.Key.String() == name })
	}
	former := part("door")
	if former < 0 {
		return nil
	}
	if part("protocols") >= 0 {
		return errors.New("`door` is the former name of `protocols`: remove it")
	}
	key := *mapping.Values[former].Key.GetToken()
	key.Value = "protocols"
	mapping.Values[former].Key = ast.String(&key)
	return nil
}

// takeStageValues sets the values of stages, and removes their keys from the document.
func (c *Config) takeStageValues(document ast.Node) (err error) {
	mapping, ok := document.(*ast.MappingNode)
	if !ok {
		return nil
	}
	names := map[string]string{}
	for _, setting := range stageSettings() {
		names[strings.ToLower(setting.Name)] = setting.Name
	}
	mapping.Values = slices.DeleteFunc(mapping.Values, func(pair *ast.MappingValueNode) bool {
		name, is := names[pair.Key.String()]
		if !is {
			return false
		}
		var text string
		err = errors.Join(err, yaml.NodeToValue(pair.Value, &text))
		c.SetStage(name, text)
		return true
	})
	return err
}

// empty reports whether a node has no value. It removes the keys without a value from
// a mapping.
func empty(node ast.Node) bool {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return node == nil || node.Type() == ast.NullType || node.Type() == ast.CommentType
	}
	mapping.Values = slices.DeleteFunc(mapping.Values, func(value *ast.MappingValueNode) bool { return empty(value.Value) })
	return false
}

func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// wholeNumber and duration read the text of a setting; their errors show its form.
func wholeNumber(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", value)
	}
	return n, nil
}

func duration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time with a unit, such as 15s or 1m", value)
	}
	return d, nil
}

func prefixes(value string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list(value) {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, failed := netip.ParseAddr(text)
			if failed != nil {
				return nil, fmt.Errorf("%q is neither an IP address nor a range such as 10.0.0.0/8", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		all = append(all, prefix)
	}
	return all, nil
}
