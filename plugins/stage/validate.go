package stage

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
)

var (
	idForm      = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	platform    = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)
	versionForm = regexp.MustCompile(`^[0-9A-Za-z.+_-]{1,40}$`)
)

// Validate reports all that is wrong with the spec.
func (s Spec) Validate() error {
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	add(!idForm.MatchString(s.ID), "id %q: want %s", s.ID, idForm)
	add(!versionForm.MatchString(s.Version), "version %q: want %s", s.Version, versionForm)
	add(len(s.Summary) > 200, "summary: more than 200 bytes")
	for _, name := range s.Platforms {
		add(!platform.MatchString(name), "platform %q: want %s", name, platform)
	}
	seen := map[string]bool{}
	for _, setting := range s.Settings {
		add(!nameForm.MatchString(setting.Name), "setting %q: want %s", setting.Name, nameForm)
		add(seen[setting.Name], "setting %q: twice", setting.Name)
		seen[setting.Name] = true
	}
	for _, name := range s.Secrets {
		add(!nameForm.MatchString(name), "secret %q: want %s", name, nameForm)
		add(seen[name], "secret %q: a name stands for one setting or secret", name)
		seen[name] = true
	}
	for _, address := range s.Hosts {
		_, err := Port(address)
		add(err != nil, "host %q: %v", address, err)
	}
	limits := s.Limits
	add(limits.Memory < 0 || limits.Call < 0 || limits.Stall < 0 || limits.Records < 0, "limits: below zero")
	add(!s.verbsFit(), "kind %q: does not fit the functions that are set", s.Kind)
	return errors.Join(faults...)
}

func (s Spec) verbsFit() bool {
	source, screen, evidence := s.Collect != nil, s.Screen != nil, s.Evidence != nil
	switch s.Kind {
	case SourceKind:
		return source && !screen && !evidence
	case ScreenKind:
		return screen && !source && !evidence && s.Refresh == nil
	case EvidenceKind:
		return evidence && !source && !screen && s.Refresh == nil
	}
	return false
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
