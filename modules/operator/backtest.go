package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/formats"
)

// BacktestOrder says which files to test the definitions of scores on.
type BacktestOrder struct {
	InputFiles
	// Days is how long after a run its trends may be taken up, at least 1.
	Days int
	// Generic are hashtags and terms that are never trends, in any case.
	Generic []string
}

// BacktestReport holds what came of outliers and trends. Runs count from 1.
type BacktestReport struct {
	// Method is the version of the rules and of the growth table.
	Method string         `json:"method"`
	Files  []BacktestFile `json:"files"`
	Runs   []BacktestRun  `json:"runs"`
	// Outliers has, for each slice, a row for each number of runs later that occurs.
	Outliers []OutlierRow  `json:"outliers"`
	Trends   BacktestTrend `json:"trends"`
}

// BacktestFile is what was read of one file.
type BacktestFile struct {
	File     string         `json:"file"`
	Read     int            `json:"read"`
	Doubtful int            `json:"doubtfulValues"`
	Skipped  []formats.Skip `json:"skipped"`
}

// BacktestRun is the library as it was after a run.
type BacktestRun struct {
	Run int `json:"run"`
	// From and To are the times of the run's first and last reading in Unix milliseconds.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Readings of the run; Videos of this run and all before it, and how many of them
	// have a score and were flagged: listed and not doubtful.
	Readings int `json:"readings"`
	Videos   int `json:"videos"`
	Scored   int `json:"scored"`
	Flagged  int `json:"flagged"`
}

// OutlierRow counts what came of the outliers of one slice. A rate is null if there is
// nothing to divide by.
type OutlierRow struct {
	// By is `all`, `run`, `platform`, `kind`, `age` (whole days at the flag), `peers` or
	// `order`, whose counts [score.Table.BacktestOrders] explains; Of is the value.
	By string `json:"by"`
	Of string `json:"of"`
	// Later is how many runs later the videos were scored again.
	Later int `json:"runsLater"`
	// Scored had a score at both runs, Above beat their baseline at the later one.
	Scored int `json:"scored"`
	Above  int `json:"above"`
	// Flagged were flagged at the first run, Still of them beat their baseline later.
	Flagged int `json:"flagged"`
	Still   int `json:"still"`
	// BaseRate is Above ÷ Scored, Precision is Still ÷ Flagged, Recall is Still ÷ Above.
	BaseRate  *float64 `json:"baseRate"`
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// maxPause is the longest time without a reading in a run, maxRun how long a run lasts at
// most: a scrape of an hour around midnight is one run, an hourly one has a run each day.
const (
	maxPause = int64(6 * time.Hour / time.Millisecond)
	maxRun   = int64(24 * time.Hour / time.Millisecond)
)

// Backtest reads files into memory, scores what was known after each run, and compares
// every run with what came later. It needs no database. Its errors are those of reading,
// and that fewer than two runs were read; the report then says what was read.
func Backtest(ctx context.Context, order BacktestOrder) (BacktestReport, error) {
	table := score.DefaultTable()
	report := BacktestReport{Method: table.Method(), Runs: []BacktestRun{}, Outliers: []OutlierRow{}}
	files, err := findFiles(order.Paths)
	if err != nil {
		return report, err
	}
	if order.Begin != nil {
		order.Begin(sizeOf(files))
	}
	reading := readFiles(ctx, order.InputFiles, files)
	defer reading.stop()
	var all []backtestReading
	for {
		batch, err := reading.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return report, err
		}
		for i := range batch {
			all = append(all, backtestReadingOf(&batch[i].Record))
		}
	}
	report.Files = reading.backtestFiles()
	runs := runsOf(all)
	if len(runs) < 2 {
		return report, fmt.Errorf("%d readings in %d runs: a backtest compares a run with later ones, and needs at least two", len(all), len(runs))
	}
	library := newBacktestLibrary(table, score.Generic(order.Generic))
	tested := make([][]score.Tested, len(runs))
	for i, run := range runs {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		library.add(run)
		if tested[i], err = library.score(run); err != nil {
			return report, err
		}
		report.Runs = append(report.Runs, runRow(i+1, run, tested[i]))
		library.rank(i + 1)
	}
	report.Outliers = outlierRows(score.Backtest(tested), table.BacktestOrders(tested))
	report.Trends = library.trends(order.Days)
	return report, nil
}

func (r *fileReading) backtestFiles() []BacktestFile {
	all := make([]BacktestFile, len(r.files))
	for part, of := range r.filesRead() {
		file, read := r.files[part], of.report
		all[part] = BacktestFile{File: file.shown, Read: read.Videos - of.refused, Doubtful: read.Doubtful, Skipped: read.Sorted()}
		if n := of.refused; n > 0 {
			all[part].Skipped = append(all[part].Skipped, formats.Skip{Reason: formats.NoID, Count: n})
		}
	}
	return all
}

// runsOf sorts readings by time and cuts them into runs.
func runsOf(all []backtestReading) (runs [][]backtestReading) {
	slices.SortStableFunc(all, func(a, b backtestReading) int { return int(max(-1, min(1, a.at-b.at))) })
	start := 0
	for i := range all {
		if i > start && (all[i].at-all[i-1].at >= maxPause || all[i].at-all[start].at >= maxRun) {
			runs, start = append(runs, all[start:i]), i
		}
	}
	if len(all) > 0 {
		runs = append(runs, all[start:])
	}
	return runs
}

func runRow(number int, run []backtestReading, outliers []score.Tested) BacktestRun {
	row := BacktestRun{Run: number, From: run[0].at, To: run[len(run)-1].at, Readings: len(run), Videos: len(outliers)}
	for i := range outliers {
		if o := &outliers[i]; o.Basis != score.NoBasis {
			row.Scored++
			if o.Listed && !o.Doubtful {
				row.Flagged++
			}
		}
	}
	return row
}
