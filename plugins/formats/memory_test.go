package formats

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// endless repeats a text until it has given so many bytes.
type endless struct {
	head, text string
	left       int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.head == "" {
		if e.left <= 0 {
			return 0, io.EOF
		}
		e.head = e.text
	}
	n := copy(p, e.head)
	e.head, e.left = e.head[n:], e.left-n
	return n, nil
}

// TestLongFilesTakeLittleMemory reads far more than may be held, in one line and in many.
func TestLongFilesTakeLittleMemory(t *testing.T) {
	const long, limit = 64 << 20, 30 << 20
	one := strings.Replace(item(1), `"desc":"a"`, `"desc":"`+strings.Repeat("slow bar ", 400)+`"`, 1)
	for name, in := range map[string]*endless{
		"one list in one line": {head: `{"itemList":[`, text: one + ",", left: long},
		"lines":                {text: one + "\n", left: long},
	} {
		t.Run(name, func(t *testing.T) {
			var most uint64
			videos := 0
			_, err := ReadStream(context.Background(), in, name, Options{LineLimit: documentLimit}, func(stage.Record) error {
				if videos++; videos%2000 == 0 {
					var mem runtime.MemStats
					runtime.ReadMemStats(&mem)
					most = max(most, mem.HeapAlloc)
				}
				return nil
			})
			if err != nil || videos < long/(len(one)+1)-1 || most == 0 || most > limit {
				t.Errorf("%s: got %d videos with %d bytes held, %v; want at least %d with 1 to %d", name, videos, most, err, long/(len(one)+1)-1, limit)
			}
		})
	}
}
