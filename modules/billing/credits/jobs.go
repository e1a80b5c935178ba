package credits

import "github.com/scrollery/scrollery/modules/kernel/store/jobs"

// Settler returns the job that settles the charges of lost processes.
func Settler(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "credits.settle", Every: s.stale / 3, Run: s.SettleLost}
}
