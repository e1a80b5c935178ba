//go:build linux && !amd64

package pluginhost

// olderCalls are those of changes that newer architectures never had.
func olderCalls() []uint32 { return nil }
