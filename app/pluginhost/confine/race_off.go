//go:build !race

package confine

var raceEnv []string
