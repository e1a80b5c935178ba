package removals

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Again does once more what the log says. Each of its methods is called for what the database
// knows as well, and again after a start that was cut off: it then changes nothing.
type Again interface {
	// Leave has an account go whose owner confirmed that at a time.
	Leave(ctx context.Context, account int64, subject string, at int64) error
	// Stay calls off what was confirmed before a time.
	Stay(ctx context.Context, account int64, at int64) error
	// Deletion keeps a deletion, which can be undone.
	Deletion(ctx context.Context, account, id int64, what string, at int64) error
	// Bury keeps names out of the library of an account.
	Bury(ctx context.Context, account, deletion int64, names []string, at int64) error
	// Forget takes back what a scroll read.
	Forget(ctx context.Context, account, deletion, scroll int64) error
	// Suppress keeps names out of all libraries.
	Suppress(ctx context.Context, erasure int64, names []string, at int64) error
	// Lift undoes a deletion.
	Lift(ctx context.Context, account, deletion int64) error
	// Delete deletes what libraries have of the names, and returns how many videos that were.
	Delete(ctx context.Context) (videos int, err error)
}

// said is what lines say, however often and in whatever order.
type said struct {
	lines int
	// lifted are deletions with the time of their end.
	lifted map[int64]int64
	// owners is what each account last said of its own deletion.
	owners map[string]Line
}

func (s *said) add(line Line) error {
	s.lines++
	switch line.kind {
	case liftKind:
		s.lifted[line.id] = max(s.lifted[line.id], line.at)
	case leaveKind, stayKind:
		if last, any := s.owners[line.of]; !any || last.at <= line.at {
			s.owners[line.of] = line
		}
	}
	return nil
}

// Merge does what the log says and the database does not know: a database that was restored from
// an older copy, or a log that another machine wrote. Other processes that start, and writers of
// the log, wait for it. It is for the start, before anything is served.
func (l *Log) Merge(ctx context.Context, again Again) error {
	ctx = viewer.System(ctx)
	others, err := l.others()
	if err != nil {
		return err
	}
	_, missing := os.Stat(l.path(current))
	if missing != nil && len(others) == 0 {
		if any, err := l.any(ctx); err != nil || !any {
			return err
		}
	}
	l.merging.Store(true)
	defer l.merging.Store(false)
	unlock, err := l.lock(ctx)
	if err != nil {
		if missing != nil && len(others) == 0 && ctx.Err() == nil {
			l.log.WarnContext(ctx, "deletions are in the database alone: the log of removals can not be written", "folder", l.dir, "error", err)
			return nil
		}
		return fmt.Errorf("merge the log of removals: %w", err)
	}
	if err := errors.Join(l.merge(ctx, again), unlock()); err != nil {
		return fmt.Errorf("merge the log of removals: %w", err)
	}
	return nil
}

func (l *Log) merge(ctx context.Context, again Again) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	f, err := l.open(ctx, key)
	if err != nil {
		return err
	}
	if err := l.writeTo(ctx, &f); err != nil { // before: an undo that no file has is newer than what it undoes
		return err
	}
	from, err := l.known(ctx, f.name)
	if err != nil {
		return err
	}
	others, err := l.others()
	if err != nil || from == f.size && len(others) == 0 {
		return err
	}
	if len(others) > 0 { // what they say may have been undone before
		from = 0
	}
	files := []file{f}
	for _, path := range others {
		other, _, err := look(path, key)
		if err != nil {
			return err
		}
		files = append(files, other)
	}
	if err := l.do(ctx, key, files, max(from, 0), again); err != nil {
		return err
	}
	for _, other := range files[1:] {
		if err := f.take(ctx, other); err != nil {
			return err
		}
	}
	if err := l.learn(ctx, f, ""); err != nil {
		return err
	}
	return l.writeTo(ctx, &f)
}

// do has all done that files say; the first one from a position on.
func (l *Log) do(ctx context.Context, key *secret.Hasher, files []file, from int64, again Again) error {
	all := said{lifted: map[int64]int64{}, owners: map[string]Line{}}
	each := func(do func(Line) error) (damaged int, err error) {
		for i := range files {
			at := int64(0)
			if i == 0 {
				at = from
			}
			n, err := files[i].each(ctx, at, do)
			if damaged += n; err != nil {
				return damaged, err
			}
		}
		return damaged, nil
	}
	damaged, err := each(all.add)
	if damaged > 0 {
		l.log.ErrorContext(ctx, "lines of the log of removals can not be read; what they name may be back", "folder", l.dir, "lines", damaged)
	}
	if err != nil || all.lines == 0 {
		return err
	}
	accounts, err := l.accounts(ctx, key)
	if err != nil {
		return err
	}
	for _, of := range slices.Sorted(maps.Keys(all.owners)) {
		line, account := all.owners[of], accounts[of]
		switch {
		case account == 0:
		case line.kind == leaveKind:
			err = again.Leave(ctx, account, line.text, line.at)
		default:
			err = again.Stay(ctx, account, line.at)
		}
		if err != nil {
			return err
		}
	}
	names := &batch{again: again}
	if _, err := each(func(line Line) error {
		account := accounts[line.of]
		if _, undone := all.lifted[line.id]; undone && line.kind != suppressKind || account == 0 && line.kind != suppressKind {
			return nil
		}
		switch line.kind {
		case deletionKind:
			return again.Deletion(ctx, account, line.id, line.text, line.at)
		case forgetKind:
			scroll, err := strconv.ParseInt(line.text, 10, 64)
			if err != nil {
				return fmt.Errorf("scroll %q: %w", line.text, err)
			}
			return again.Forget(ctx, account, line.id, scroll)
		case buryKind, suppressKind:
			return names.add(ctx, account, line)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := names.flush(ctx); err != nil {
		return err
	}
	videos, err := again.Delete(ctx)
	if err != nil {
		return err
	}
	if _, err := each(func(line Line) error {
		if account := accounts[line.of]; line.kind == liftKind && account != 0 {
			return again.Lift(ctx, account, line.id)
		}
		return nil
	}); err != nil {
		return err
	}
	l.log.WarnContext(ctx, "the log of removals has what this database did not know, which was done again", "lines", all.lines, "videos", videos)
	return nil
}

// batch are names of one deletion or erasure.
type batch struct {
	again   Again
	account int64
	first   Line
	names   []string
}

func (b *batch) add(ctx context.Context, account int64, line Line) error {
	if len(b.names) == atOnce || len(b.names) > 0 && (line.kind != b.first.kind || line.id != b.first.id || account != b.account) {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	if len(b.names) == 0 {
		b.account, b.first = account, line
	}
	b.names = append(b.names, line.text)
	return nil
}

func (b *batch) flush(ctx context.Context) (err error) {
	if len(b.names) == 0 {
		return nil
	}
	if b.first.kind == suppressKind {
		err = b.again.Suppress(ctx, b.first.id, b.names, b.first.at)
	} else {
		err = b.again.Bury(ctx, b.account, b.first.id, b.names, b.first.at)
	}
	b.names = b.names[:0]
	return err
}

// take appends the lines of another file, which then goes.
func (f *file) take(ctx context.Context, other file) error {
	var lines []string
	_, err := other.each(ctx, 0, func(line Line) error {
		if lines = append(lines, line.String()); len(lines) < atOnce {
			return nil
		}
		err := f.add(lines)
		lines = lines[:0]
		return err
	})
	if err == nil && len(lines) > 0 {
		err = f.add(lines)
	}
	if err != nil {
		return err
	}
	return os.Remove(other.path)
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

// others are the files of the folder that no process appends to.
func (l *Log) others() ([]string, error) {
	paths, err := filepath.Glob(l.path("[^.]*.log"))
	return slices.DeleteFunc(paths, func(path string) bool { return path == l.path(current) }), err
}

// setAside makes a file one of the others.
func (l *Log) setAside(path string) error {
	return os.Rename(path, l.path("before-"+strconv.FormatInt(time.Now().UnixNano(), 10)+".log"))
}

// Compact leaves out what no database can need any more: names of deletions that were undone and of
// accounts that left, what is said twice, and ends of before KeepEnded.
func (l *Log) Compact(ctx context.Context) (err error) {
	ctx = viewer.System(ctx)
	if _, err := os.Stat(l.path(current)); err != nil || l.merging.Load() {
		return nil //nolint:nilerr // nothing to compact
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return fmt.Errorf("compact the log of removals: %w", err)
	}
	if err := errors.Join(l.compact(ctx), unlock()); err != nil {
		return fmt.Errorf("compact the log of removals: %w", err)
	}
	return nil
}

func (l *Log) compact(ctx context.Context) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	f, err := l.open(ctx, key)
	if err != nil {
		return err
	}
	known, err := l.known(ctx, f.name)
	if err != nil || known != f.size {
		return err // the next start has it done first
	}
	all := said{lifted: map[int64]int64{}, owners: map[string]Line{}}
	if damaged, err := f.each(ctx, 0, all.add); err != nil || damaged > 0 {
		return err
	}
	accounts, err := l.accounts(ctx, key)
	if err != nil {
		return err
	}
	ended := l.now().Add(-KeepEnded).UnixMilli()
	keep := func(line Line) bool {
		_, there := accounts[line.of]
		owner := all.owners[line.of]
		switch line.kind {
		case deletionKind, buryKind, forgetKind:
			_, undone := all.lifted[line.id]
			return !undone && (there || owner.kind != leaveKind && line.at >= ended)
		case liftKind:
			return line.at >= ended
		case leaveKind, stayKind:
			return line == owner && (line.at >= ended || there && line.kind == leaveKind)
		}
		return true
	}
	kept := map[string]bool{}
	if _, err := f.each(ctx, 0, func(line Line) error {
		if keep(line) {
			kept[line.String()] = true
		}
		return nil
	}); err != nil || len(kept) == all.lines {
		return err
	}
	smaller, err := create(f.path, key, func(add func(Line) error) error {
		_, err := f.each(ctx, 0, func(line Line) error {
			text := line.String()
			if !kept[text] {
				return nil
			}
			delete(kept, text)
			return add(line)
		})
		return err
	})
	if err != nil {
		return err
	}
	return l.learn(ctx, smaller, f.name)
}
