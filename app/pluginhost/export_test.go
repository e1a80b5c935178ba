package pluginhost

// PID is the process of the session, 0 without one.
func (s *Session) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		return 0
	}
	return s.shared.runner.command.Pid()
}

// Ahead are the processes that were started ahead and not taken.
func (h *Host) Ahead() (pids []int) {
	for _, p := range h.warm.Kept() {
		pids = append(pids, p.runner.command.Pid())
	}
	return pids
}
