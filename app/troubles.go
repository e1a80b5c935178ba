package app

import (
	"time"

	"github.com/scrollery/scrollery/app/ops"
)

// troublePart is a thing to do something about. The page has the words for each kind: what is
// wrong, and what to do. Of is what it is about, and N a number of it.
type troublePart struct {
	Kind string `json:"kind"`
	Of   string `json:"of"`
	N    int64  `json:"n"`
}

const (
	// lowSpace is the free space, in bytes, below which a disk fills up soon.
	lowSpace = 1 << 30
	// longWait is how long a job may wait while processes work.
	longWait = 5 * time.Minute
	// enoughRequests is of how many requests a share says something, and failedShare which part of
	// them is too many, 1 of 100.
	enoughRequests, failedShare = 20, 100
	// slowAnswer is what 99 of 100 requests of an hour should not exceed.
	slowAnswer = 2 * time.Second
)

// troubles are what is wrong by the numbers of the page, the most urgent first. The hour before
// counts too, so that nothing ends with the clock.
func troubles(a *overviewAnswer) (all []troublePart) {
	for _, d := range a.Disks {
		switch {
		case d.Free < ops.MinFree:
			all = append(all, troublePart{"disk_full", d.Of, int64(d.Free >> 20)})
		case d.Free < lowSpace:
			all = append(all, troublePart{"disk_low", d.Of, int64(d.Free >> 20)})
		}
	}
	for _, q := range a.Queue {
		if q.OldestMs > longWait.Milliseconds() {
			all = append(all, troublePart{"queue_old", q.Kind, q.OldestMs / 60_000})
		}
	}
	var requests, failed, slow int64
	for _, h := range a.Hours {
		if time.UnixMilli(a.At).Sub(time.UnixMilli(h.At)) <= 2*time.Hour {
			requests, failed, slow = requests+h.Requests, failed+h.Failed, max(slow, int64(h.SlowMs))
		}
	}
	if requests >= enoughRequests && failed*failedShare > requests {
		all = append(all, troublePart{"requests_fail", "", failed})
	}
	if requests >= enoughRequests && slow > slowAnswer.Milliseconds() {
		all = append(all, troublePart{"requests_slow", "", slow})
	}
	for _, k := range a.Kept {
		if k.Overdue > 0 {
			all = append(all, troublePart{"deletion_overdue", k.Source, int64(k.Overdue)})
		}
	}
	for _, p := range a.Plugins {
		if p.State == "resting" || p.State == "refused" {
			all = append(all, troublePart{"plugin_" + p.State, p.ID, 0})
		}
	}
	for _, q := range a.Quotas {
		if q.Limit > 0 && q.Used >= q.Limit {
			all = append(all, troublePart{"quota_spent", q.Plugin + " " + q.Name, 0})
		}
	}
	return all
}
