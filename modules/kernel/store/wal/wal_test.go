package wal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

var errDisk = errors.New("the disk is gone")

// open returns the log of an empty file.
func open(t *testing.T, intoDB func() error) *Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(path, intoDB)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestOneTurnServesAllWhoWait holds the disk while ten others commit: they share the next turn.
func TestOneTurnServesAllWhoWait(t *testing.T) {
	t.Parallel()
	l := open(t, nil)
	var turns atomic.Int32
	begun, held := make(chan struct{}), make(chan struct{})
	l.Sync = func(*os.File) error {
		if turns.Add(1) == 1 {
			close(begun)
			<-held
		}
		return nil
	}
	var all sync.WaitGroup
	settle := func() {
		if err := l.Settle(); err != nil {
			t.Error(err)
		}
	}
	all.Go(settle)
	<-begun
	const others = 10
	for range others {
		all.Go(settle)
	}
	for l.asked.Load() != 1+others {
		runtime.Gosched()
	}
	close(held)
	all.Wait()
	if got := turns.Load(); got != 2 {
		t.Errorf("got %d turns of the disk for one and %d others, want 2", got, others)
	}
}

// TestAFailedSyncIsNotBelieved: once the disk has refused, only a copy into the database's
// file settles what was committed.
func TestAFailedSyncIsNotBelieved(t *testing.T) {
	t.Parallel()
	var synced, copied int
	syncs, copies := errDisk, errDisk
	l := open(t, func() error { copied++; return copies })
	l.Sync = func(*os.File) error { synced++; return syncs }
	for _, c := range []struct {
		name           string
		syncs, copies  error
		want           error
		synced, copied int
	}{
		{"both fail", errDisk, errDisk, errDisk, 1, 1},
		{"a sync would succeed now", nil, errDisk, errDisk, 1, 2},
		{"the copy succeeds", nil, nil, nil, 1, 3},
		{"syncs are believed again", nil, errDisk, nil, 2, 3},
		{"a copy in place of a sync", errDisk, nil, nil, 3, 4},
	} {
		syncs, copies = c.syncs, c.copies
		if err := l.Settle(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if synced != c.synced || copied != c.copied {
			t.Errorf("%s: got %d syncs and %d copies so far, want %d and %d", c.name, synced, copied, c.synced, c.copied)
		}
	}
}

// TestTheFileAtThePathIsSynced: a log that was made anew is opened anew.
func TestTheFileAtThePathIsSynced(t *testing.T) {
	t.Parallel()
	l := open(t, nil)
	for range 3 {
		var synced os.FileInfo
		l.Sync = func(file *os.File) (err error) { synced, err = file.Stat(); return err }
		if err := l.Settle(); err != nil {
			t.Fatal(err)
		}
		if there, err := os.Stat(l.path); err != nil || !os.SameFile(there, synced) {
			t.Fatalf("got a sync of another file than the one at the path (%v)", err)
		}
		if err := errors.Join(os.WriteFile(l.path+".new", nil, 0o600), os.Rename(l.path+".new", l.path)); err != nil {
			t.Fatal(err)
		}
	}
}
