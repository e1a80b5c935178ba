// Package lazy compiles patterns when they are first used. The process of every plugin
// begins as the whole program does, and must not pay for patterns of other plugins.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern returns the compiled expression at each call. A wrong expression panics at the
// first one. It is safe for concurrent use.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
