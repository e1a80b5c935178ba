package sandbox

import "context"

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

// Programs run programs in the folder of an account. An error means that the
// program could not be run, which is not its own fault. started is called right
// before the program's first step.
type Programs interface {
	Run(ctx context.Context, dir string, program Program, started func()) (Result, error)
}
