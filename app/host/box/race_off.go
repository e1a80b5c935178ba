//go:build !race

package box

var raceEnv []string
