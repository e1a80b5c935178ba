package feed

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// source is an opened feed.
type source struct {
	files   fs.FS
	names   []string
	options formats.Options
}

// open gives the files that the run of this call reads.
func open(call *stage.Call) (*source, error) {
	dir := call.Settings["dir"]
	s := &source{options: formats.Options{Now: call.Now, Found: true}}
	switch dir {
	case "":
		return nil, stage.Misconfiguredf("the feed folder is not set")
	case Sample:
		s.files, s.options.Sample = sampleFiles(), true
	default:
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) || (err == nil && !info.IsDir()) {
			return nil, stage.Misconfiguredf("the feed folder does not exist")
		}
		s.files = os.DirFS(dir)
	}
	var err error
	if s.options.Map, err = settingMap(call.Settings["csv_map"]); err != nil {
		return nil, stage.Misconfiguredf("%v", err)
	}
	if s.names, err = folder(s.files, call.Number); err != nil {
		return nil, fmt.Errorf("list the feed folder: %w", err)
	}
	return s, nil
}

// settingMap is the map in the setting csv_map: JSON, or a file with it.
func settingMap(setting string) (*formats.Map, error) {
	setting = strings.TrimSpace(setting)
	if setting == "" {
		return nil, nil
	}
	if strings.HasPrefix(setting, "{") {
		return formats.ParseMap([]byte(setting))
	}
	text, err := os.ReadFile(setting)
	if err != nil {
		return nil, fmt.Errorf("column map: %w", err)
	}
	return formats.ParseMap(text)
}

// pick chooses one of the readings of each video: the newest, of equally new
// ones the first. It holds a hash per video, not the videos.
type pick struct {
	seed maphash.Seed
	best map[uint64]sighting
	next int
}

type sighting struct {
	ordinal  int
	observed int64
}

func (p *pick) key(ref stage.Ref) uint64 {
	return maphash.String(p.seed, ref.Platform+"\x00"+ref.ExternalID)
}

func (p *pick) add(rec stage.Record) {
	var observed int64
	if at := rec.Metrics.ObservedAt; at != nil {
		observed = *at
	}
	key := p.key(rec.Ref)
	if had, ok := p.best[key]; !ok || observed > had.observed {
		p.best[key] = sighting{p.next, observed}
	}
	p.next++
}

// wins reports whether a record is chosen; they come in the same order.
func (p *pick) wins(rec stage.Record) bool {
	best, ok := p.best[p.key(rec.Ref)]
	p.next++
	return ok && best.ordinal == p.next-1
}

// collect hands over every video of the run's folder once. The files are read
// twice: the first pass finds the newest reading of each video, so that nothing
// needs to be held back.
func collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	s, err := open(call)
	if err != nil {
		return nil, err
	}
	ledger := newLedger()
	whose := newKinds(call.Brief, seeds)
	report, err := s.each(ctx, call, nil, func(rec stage.Record) error {
		whose.settle(&rec)
		entry := ledger.enter(rec)
		if rec.Seed = entry.Seed; rec.Seed == Seed && seedOf(rec) == Seed {
			rec.Seed = "" // no seed led here, not even one of this name
		}
		if err := emit(rec); err != nil {
			return err
		}
		entry.Returned++
		return nil
	})
	enough := errors.Is(err, stage.ErrEnough)
	if err != nil && !enough {
		return nil, err
	}
	logReport(call, report)
	return ledger.outcomes(report, seeds, enough), nil
}

// refresh hands over those videos asked for that the run's folder has.
func refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	s, err := open(call)
	if err != nil {
		return nil, err
	}
	want := make(map[stage.Ref]bool, len(refs))
	asked, found := map[string]int{}, map[string]int{}
	for _, ref := range refs {
		if !want[ref] {
			want[ref] = true
			asked[ref.Platform]++
		}
	}
	whose := newKinds(call.Brief, nil)
	report, err := s.each(ctx, call, want, func(rec stage.Record) error {
		whose.settle(&rec)
		if rec.Seed = seedOf(rec); rec.Seed == Seed {
			rec.Seed = ""
		}
		if err := emit(rec); err != nil {
			return err
		}
		found[rec.Platform]++
		return nil
	})
	if err != nil && !errors.Is(err, stage.ErrEnough) {
		return nil, err
	}
	logReport(call, report)
	var outcomes []stage.Outcome
	for _, platform := range slices.Sorted(maps.Keys(asked)) {
		outcome := stage.Outcome{Seed: Seed, Platform: platform, Asked: asked[platform], Returned: found[platform], Status: stage.OK}
		switch {
		case outcome.Returned == 0:
			outcome.Status = stage.Empty
		case outcome.Returned < outcome.Asked:
			outcome.Status = stage.Partial
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// each gives the chosen reading of every video, or of those wanted.
func (s *source) each(ctx context.Context, call *stage.Call, want map[stage.Ref]bool, emit func(stage.Record) error) (formats.Report, error) {
	chosen := &pick{seed: maphash.MakeSeed(), best: map[uint64]sighting{}}
	_, err := formats.Read(ctx, s.files, s.names, s.options, func(rec stage.Record) error {
		if want == nil || want[rec.Ref] {
			chosen.add(rec)
		}
		if chosen.next%10000 == 0 {
			call.Progress("looking through the feed")
		}
		return nil
	})
	if err != nil {
		return formats.Report{}, err
	}
	chosen.next = 0
	return formats.Read(ctx, s.files, s.names, s.options, func(rec stage.Record) error {
		if (want != nil && !want[rec.Ref]) || !chosen.wins(rec) {
			return nil
		}
		return emit(rec)
	})
}

// logReport puts what was left out into the log: places and reasons, not the lines.
func logReport(call *stage.Call, report formats.Report) {
	if call.Log == nil {
		return
	}
	call.Log.Info("feed read", "files", report.Files, "videos", report.Videos, "broken", report.Skipped()-report.Count(formats.TooLong),
		"long", report.Count(formats.TooLong), "doubtful", report.Doubtful, "filtered", report.Count(formats.Filtered))
	for _, note := range report.Notes {
		call.Log.Warn("feed: left out", "where", note)
	}
}
