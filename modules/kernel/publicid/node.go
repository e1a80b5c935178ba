package publicid

import (
	"fmt"
	"time"
)

// MarkStep is how far ahead of the ids a node number is marked as used: one mark is written
// in this time, and ids of a successor may run this far ahead.
const MarkStep = 10 * time.Second

// ErrNodesHeld is the error of a process for which no node number is left.
var ErrNodesHeld = fmt.Errorf("all %d node numbers are held by running processes", MaxNode+1)
