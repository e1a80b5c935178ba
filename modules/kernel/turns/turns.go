// Package turns says which threads give way to others, and for how long a thread may keep a
// processor while others wait for it.
//
// Linux lets a thread that wakes up interrupt one whose turn is longer (since 6.12; before
// that, and on other systems, nothing changes). The threads of the server take short turns:
// a call that comes in is read, stored and answered by threads that each work for some
// microseconds, and does not wait for a plugin's turn to end at each of these steps. No
// process gets less of a processor by it.
//
// What no one waits for, as scoring a library by new rules, has threads of its own, which come
// after those of the calls, see [Aside].
package turns

import (
	"runtime"
	"sync"
)

// Aside calls work and waits for its end. Where all processors are busy, the thread that
// does it comes after the server's others: it gets about a quarter of a processor beside one
// that is always busy, so that what the work has locked is not held for long. Where no one
// else asks for a processor, the work is as fast as ever. Goroutines that it starts are not
// held back; processes that it starts are. On other systems than Linux Aside calls work,
// nothing else.
func Aside(work func()) {
	if !known {
		work()
		return
	}
	t := task{work, make(chan struct{})}
	if thread, found := takeFree(); found {
		thread <- t
	} else {
		go t.serve()
	}
	<-t.done
}

type task struct {
	work func()
	done chan struct{}
}

// free are the threads without a task.
var (
	mu   sync.Mutex
	free []chan task
)

func takeFree() (thread chan task, found bool) {
	mu.Lock()
	defer mu.Unlock()
	if len(free) == 0 {
		return nil, false
	}
	last := len(free) - 1
	thread, free = free[last], free[:last]
	return thread, true
}

func giveBack(thread chan task) {
	mu.Lock()
	defer mu.Unlock()
	free = append(free, thread)
}

// serve does tasks on one thread. It stays, so there are as many as there once were tasks at
// the same time: processes that a thread has started may end with it.
func (t task) serve() {
	runtime.LockOSThread()
	giveWay()
	defer func() { close(t.done) }() // the work has ended the goroutine
	own := make(chan task, 1)
	for {
		t.work()
		giveBack(own)
		close(t.done)
		t = <-own
	}
}
