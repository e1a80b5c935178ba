package sources

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Sweeper returns the module's housekeeping.
func Sweeper(m *Memory) store.Periodic {
	return store.Periodic{Kind: "sources.sweep", Every: 6 * time.Hour, Run: m.Sweep}
}
