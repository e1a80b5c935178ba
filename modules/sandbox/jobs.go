package sandbox

import "github.com/scrollery/scrollery/modules/kernel/store"

// Rescuer returns what gives fees back whose process is lost.
func Rescuer(s *Service) store.Periodic {
	return store.Periodic{Kind: "sandbox.rescue", Every: s.config.Agent.Stale / 3, Run: s.Rescue}
}
