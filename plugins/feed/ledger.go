package feed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Seed is the seed of videos without a handle.
const Seed = "feed"

// ledger counts the videos of each handle on each platform.
type ledger struct{ of map[account]*stage.Outcome }

type account struct{ platform, handle string }

func newLedger() *ledger { return &ledger{of: map[account]*stage.Outcome{}} }

func seedOf(rec stage.Record) string {
	if rec.Source == nil || strings.TrimSpace(rec.Source.Handle) == "" {
		return Seed
	}
	return strings.TrimSpace(rec.Source.Handle)
}

// enter counts a record as asked for and gives its entry, whose seed is the
// handle as it was first written.
func (l *ledger) enter(rec stage.Record) *stage.Outcome {
	seed := seedOf(rec)
	key := account{rec.Platform, handleKey(seed)}
	if rec.Source == nil || rec.Source.Handle == "" {
		key.handle = ""
	}
	entry := l.of[key]
	if entry == nil {
		entry = &stage.Outcome{Seed: seed, Platform: rec.Platform, Status: stage.OK}
		l.of[key] = entry
	}
	entry.Asked++
	return entry
}

// outcomes are the entries by platform and handle. What could not be read is
// counted on the `feed` entry of the platform with the most videos; handles that
// were asked for on a platform and have no video are empty. With enough, the
// host took no more, though the feed has more.
func (l *ledger) outcomes(report formats.Report, seeds []stage.Seed, enough bool) []stage.Outcome {
	for _, seed := range seeds {
		key := account{seed.Platform, handleKey(seed.Handle)}
		if seed.Platform != "" && key.handle != "" && l.of[key] == nil {
			l.of[key] = &stage.Outcome{Seed: seed.Handle, Platform: seed.Platform, Status: stage.Empty, Asked: max(seed.Limit, 1)}
		}
	}
	if skipped := report.Skipped(); skipped > 0 {
		entry := l.main()
		entry.Asked += skipped
		entry.Status = stage.Partial
		entry.Detail = fmt.Sprintf("%d lines or rows could not be read: %s", skipped, strings.Join(report.Notes[:min(3, len(report.Notes))], "; "))
	}
	if enough {
		entry := l.main()
		entry.Status = stage.Partial
		entry.Detail = strings.TrimPrefix(entry.Detail+"; the feed has more videos than one call may give", "; ")
	}
	if len(l.of) == 0 {
		l.of[account{}] = &stage.Outcome{Seed: Seed, Status: stage.Empty, Detail: fmt.Sprintf("no videos in %d files", report.Files)}
	}
	all := make([]stage.Outcome, 0, len(l.of))
	for _, entry := range l.of {
		all = append(all, *entry)
	}
	slices.SortFunc(all, func(x, y stage.Outcome) int {
		if c := strings.Compare(x.Platform, y.Platform); c != 0 {
			return c
		}
		return strings.Compare(x.Seed, y.Seed)
	})
	return all
}

// main is the `feed` entry of the platform with the most videos.
func (l *ledger) main() *stage.Outcome {
	count := map[string]int{}
	for key, entry := range l.of {
		count[key.platform] += entry.Returned
	}
	platform := ""
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if platform == "" || count[name] > count[platform] {
			platform = name
		}
	}
	entry := l.of[account{platform: platform}]
	if entry == nil {
		entry = &stage.Outcome{Seed: Seed, Platform: platform}
		l.of[account{platform: platform}] = entry
	}
	return entry
}
