// Package cache keeps what was used last, within a bound.
package cache

import "github.com/maypok86/otter/v2"

// Of is a cache, safe for concurrent use. It is an interface for the compiler's sake:
// a field of otter's own type makes each package that knows its struct compile the
// cache again, which was half of most modules.
type Of[K comparable, V any] interface {
	// GetIfPresent returns the value of a key, and whether there is one.
	GetIfPresent(key K) (V, bool)
	// ComputeIfAbsent returns the value of a key, and makes it first if there is none.
	// The value is not kept if make says so.
	ComputeIfAbsent(key K, make func() (value V, cancel bool)) (V, bool)
	// Set keeps a value. It returns it and true if there was none, else the one before it
	// and false.
	Set(key K, value V) (V, bool)
}

// New returns an empty cache. It fails if the options contradict each other.
func New[K comparable, V any](options otter.Options[K, V]) (Of[K, V], error) {
	kept, err := otter.New(&options)
	if err != nil {
		return nil, err
	}
	return kept, nil
}
