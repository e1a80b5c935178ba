package customer

import (
	"fmt"
	"strings"
	"time"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// bar shows the progress of a scroll on stderr: a bar on a terminal, otherwise a line
// for each stage.
type bar struct {
	c      *call
	before string
	drawn  bool
	// shown is when the last line was printed.
	shown time.Time
}

func newBar(c *call) *bar { return &bar{c: c} }

const barWidth = 24

func (b *bar) show(scroll *pb.Scroll) {
	stage := scroll.GetStage()
	if stage == "" {
		stage = scroll.GetStatus()
	}
	percent := min(max(scroll.GetProgress().GetPercent(), 0), 100)
	if !b.c.err.Terminal {
		if stage != b.before {
			b.c.note("%s: %s", scroll.GetId(), stage)
		}
		b.before = stage
		return
	}
	done := int(percent / 100 * barWidth)
	b.draw(fmt.Sprintf("%s%s %3.0f %%  %-9s %d collected, %d new", strings.Repeat("█", done), strings.Repeat("░", barWidth-done), percent,
		b.c.Escape(stage), scroll.GetProgress().GetCollected(), scroll.GetResultCounts().GetVideos()))
}

// lost says that the server does not answer at the moment.
func (b *bar) lost() {
	if b.c.err.Terminal {
		b.draw("The server does not answer; trying again …")
	} else if b.before != "lost" {
		b.c.note("the server does not answer; trying again")
		b.before = "lost"
	}
}

func (b *bar) draw(text string) {
	b.drawn = true
	fmt.Fprint(b.c.err.Out, "\r\x1b[K"+text)
}

// end leaves an empty line for what comes.
func (b *bar) end() {
	if b.drawn {
		fmt.Fprint(b.c.err.Out, "\r\x1b[K")
	}
}
