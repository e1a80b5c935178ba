package sandbox

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

// Program is what an account wants to have run.
type Program struct {
	// Name is what errors call it: its path, where it has one.
	Name string
	// Source is JavaScript.
	Source string
	// Data is what it finds in `data`: JSON by name.
	Data map[string]string
	// Missing is what it does not find there, and why, by name: looking at it is an
	// error of the program.
	Missing map[string]string
}

// Result is how a run ended. A program that fails is a result like any other.
type Result struct {
	// Output is what the program printed before it ended.
	Output string
	// Failure is empty, one of the sandbox plugin's words, or Crashed.
	Failure string
	// Message is the failure in words.
	Message string
}

// Crashed is a program that took its process along.
const Crashed = "crashed"

// Unstored is a program whose files were not stored, because together with what other
// calls wrote meanwhile they exceed the sandbox's limits.
const Unstored = "files"

// unstored is the result of a program whose files were refused; refusal may be nil.
func (r Result) unstored(refusal *files.Error) Result {
	if refusal == nil {
		return r
	}
	message := "The files that the program wrote are not stored: " + refusal.Message + "."
	if r.Failure == "" {
		r.Failure, r.Message = Unstored, message
	} else {
		r.Message += " " + message
	}
	return r
}

// Programs run programs in the folder of an account. An error means that the
// program could not be run, which is not its own fault. folder is called when the
// program's turn has come, and returns the folder's path. started is called right before
// the program's first step. When Run returns, the program's process has ended.
type Programs interface {
	Run(ctx context.Context, folder func(context.Context) (string, error), program Program, started func()) (Result, error)
}
