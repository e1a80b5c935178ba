package stage

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	idForm      = pattern(`^[a-z][a-z0-9-]{0,39}$`)
	envForm     = pattern(`^[A-Z][A-Z0-9_]{0,63}$`)
	nameForm    = pattern(`^[a-z][a-z0-9_]{0,39}$`)
	platform    = pattern(`^[a-z0-9_]{1,40}$`)
	programForm = pattern(`^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,39}$`)
	// An address of either version, a name, or all names below one.
	hostForm    = pattern(`^(\[[0-9a-fA-F:.]+\]|[0-9A-Za-z_.-]+|\*(\.[0-9A-Za-z_-]+){2,}):[0-9]+$`)
	versionForm = pattern(`^[0-9A-Za-z.+_-]{1,40}$`)
)

// pattern is compiled when it is first used: the process of every plugin begins as the
// whole program does.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Validate reports all that is wrong with the spec.
func (s Spec) Validate() error {
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	add(!idForm().MatchString(s.ID), "id %q: want %s", s.ID, idForm())
	add(!versionForm().MatchString(s.Version), "version %q: want %s", s.Version, versionForm())
	add(len(s.Summary) > 200, "summary: more than 200 bytes")
	add(s.Docs != "" && !isPage(s.Docs), "docs: want an https address of at most %d characters", MaxDocs)
	for _, name := range s.Platforms {
		add(!platform().MatchString(name), "platform %q: want %s", name, platform())
	}
	seen := map[string]bool{}
	for _, setting := range s.Settings {
		add(!nameForm().MatchString(setting.Name), "setting %q: want %s", setting.Name, nameForm())
		add(seen[setting.Name], "setting %q: twice", setting.Name)
		err := setting.sound()
		add(err != nil, "setting %q: %v", setting.Name, err)
		seen[setting.Name] = true
	}
	for _, name := range s.Secrets {
		add(!nameForm().MatchString(name), "secret %q: want %s", name, nameForm())
		add(seen[name], "secret %q: a name is one setting or secret", name)
		seen[name] = true
	}
	for _, name := range s.RequiredSecrets {
		add(!slices.Contains(s.Secrets, name), "required secret %q: is not among the secrets", name)
	}
	for _, name := range s.Tokens {
		add(!slices.Contains(s.Secrets, name), "token %q: is not among the secrets", name)
	}
	for _, setting := range s.Settings {
		add(setting.Path && setting.Endpoint, "setting %q: a path and an endpoint at once", setting.Name)
		add(setting.Own && (setting.Path || setting.Endpoint || setting.Off != ""), "setting %q: an account sets no path, no endpoint and nothing that turns a stage off", setting.Name)
		add(setting.Own && (s.Kind != SourceKind || len(s.Secrets) == 0), "setting %q: accounts set only those of sources with secrets", setting.Name)
	}
	for name, variable := range s.Env {
		add(!seen[name], "variable %s: there is no setting or secret %q", variable, name)
		add(!envForm().MatchString(variable), "variable %q: want %s", variable, envForm())
	}
	for _, setting := range s.Settings {
		add(setting.RequiredWith != "" && !seen[setting.RequiredWith], "setting %q: there is no setting %q to be required with", setting.Name, setting.RequiredWith)
	}
	quotas := map[string]bool{}
	for _, quota := range s.Quotas {
		add(!nameForm().MatchString(quota.Name), "quota %q: want %s", quota.Name, nameForm())
		add(quotas[quota.Name], "quota %q: twice", quota.Name)
		quotas[quota.Name] = true
		add(quota.Limit < 1, "quota %q: a limit below 1", quota.Name)
		add(quota.Cost.Handle < 0 || quota.Cost.Term < 0, "quota %q: a negative cost", quota.Name)
		add(quota.Window != UTCDay && quota.Window != PacificDay && quota.Window != Week, "quota %q: window %q: want %s, %s or %s", quota.Name, quota.Window, UTCDay, PacificDay, Week)
		add(quota.Setting != "" && !seen[quota.Setting], "quota %q: there is no setting %q", quota.Name, quota.Setting)
	}
	add(s.Requests.Handle < 0 || s.Requests.Term < 0, "requests: a negative cost")
	if s.Price != (Price{}) {
		add(s.Kind != SourceKind, "price: only sources have one")
		add(seen[budget], "setting %q: the host makes it of the price", budget)
		add(quotas[CostQuota], "quota %q: the host makes it of the price", CostQuota)
		err := s.Price.sound()
		add(err != nil, "price: %v", err)
	}
	for _, program := range s.Programs {
		add(!programForm().MatchString(program), "program %q: want %s", program, programForm())
	}
	add(s.AfterEvidence && s.Kind != ScreenKind, "after evidence: only screens choose when they run")
	add(s.NeedsMedia && s.Kind != EvidenceKind, "needs media: only evidence stages get any")
	for _, address := range s.Hosts {
		_, err := Port(address)
		add(err != nil, "host %q: %v", address, err)
		add(err == nil && !hostForm().MatchString(address), "host %q: a star must be before a domain of two names, or nowhere", address)
	}
	limits := s.Limits
	add(limits.Memory < 0 || limits.Call < 0 || limits.Stall < 0 || limits.Records < 0 || limits.Calls < 0, "limits: below zero")
	add(!s.verbsFit(), "kind %q: does not fit the functions that are set", s.Kind)
	return errors.Join(faults...)
}

func (s Spec) verbsFit() bool {
	verbs := map[Kind]bool{
		PlanKind: s.Plan != nil, SourceKind: s.Collect != nil, ScreenKind: s.Screen != nil, EvidenceKind: s.Evidence != nil, BriefKind: s.Brief != nil,
	}
	for kind, has := range verbs {
		if has != (kind == s.Kind) {
			return false
		}
	}
	_, known := verbs[s.Kind]
	return known && (s.Kind == SourceKind || s.Refresh == nil && s.Media == nil)
}

// isPage reports whether people can be sent to an address.
func isPage(address string) bool {
	page, err := url.Parse(address)
	return err == nil && len(address) <= MaxDocs && page.Scheme == "https" && page.User == nil && strings.Contains(page.Hostname(), ".") &&
		!strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Port is the port of a `host:port` address.
func Port(address string) (uint16, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0, errors.New("want host:port")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 || host == "" {
		return 0, errors.New("want host:port with a port from 1 to 65535")
	}
	return uint16(port), nil
}
