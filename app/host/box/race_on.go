//go:build race

package box

// raceEnv is added to the environment of every process of a build with the race
// detector: such a process sleeps for a second before it ends, the launcher and what it
// launched one after the other, unless it is told not to.
var raceEnv = []string{"GORACE=atexit_sleep_ms=0"}
