package sources

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Sweeper returns the module's housekeeping.
func Sweeper(m *Memory) jobs.Periodic {
	return jobs.Periodic{Kind: "sources.sweep", Every: 6 * time.Hour, Run: m.Sweep}
}
