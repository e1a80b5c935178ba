//go:build !console

package console

// Built returns nil: this binary was built without the tag `console`.
func Built() (Assets, error) { return nil, nil }
