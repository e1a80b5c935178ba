package reader

import (
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

const (
	// sign is the time between two signs of life.
	sign = 5 * time.Second
	// work is how much processor time may pass between two answers, signs of life aside: after
	// it there are none, and the host ends the process.
	work = time.Minute
)

// answers go to the host, with signs of life between them. Where the machine is busy with
// other work, a file that needs seconds takes minutes: time on the clock alone does not tell
// that from a reader that is lost.
type answers struct {
	out grpc.ServerStreamingServer[readerv1.ReadResponse]
	// used is the processor time of the process.
	used func() time.Duration
	mu   sync.Mutex
	// at is what was used at the last answer.
	at time.Duration
}

func (a *answers) send(answer *readerv1.ReadResponse) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = a.used()
	return a.out.Send(answer)
}

// signs gives a sign of life so often, until stop.
func (a *answers) signs(every time.Duration) (stop func()) {
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-time.After(every):
			case <-ended:
				return
			}
			a.mu.Lock()
			var err error
			if a.used()-a.at < work {
				err = a.out.Send(&readerv1.ReadResponse{})
			}
			a.mu.Unlock()
			if err != nil {
				return // the stream has ended, which the next answer reports
			}
		}
	}()
	return func() { close(ended); <-gone }
}

// processorTime is what this process used of the processors; 0 where the system does not say.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
