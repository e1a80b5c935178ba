package sandbox

import "github.com/scrollery/scrollery/modules/folder"

// Config is the room's part of the configuration.
type Config struct {
	// Dir holds a folder an account. The app sets it, below the data folder.
	Dir string `yaml:"-"`
	// Files bound an account's folder.
	Files folder.Limits `yaml:"files"`
}

// Defaults is the config where nobody says otherwise.
func Defaults() Config { return Config{Files: folder.Defaults()} }

// Validate reports what cannot work.
func (c Config) Validate() error { return c.Files.Validate() }
