package host

import "time"

// PID is the process of the session, 0 without one.
func (s *Session) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		return 0
	}
	return s.shared.runner.command.Pid()
}

// SessionIdle is how long a session keeps a process that no call uses.
const SessionIdle = sessionIdle

// ShortChecks bounds checks by less than [stage.CheckWithin].
func (h *Host) ShortChecks(within time.Duration) { h.checkWithin = within }
