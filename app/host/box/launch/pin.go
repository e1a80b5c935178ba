package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrHash is the error of a binary that is not the pinned one.
var ErrHash = errors.New("the binary is not the pinned one: its sha256 differs")

// Hash returns the SHA-256 of the file at path in lower-case hexadecimal.
func Hash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return hash(file)
}

func hash(file io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("hash the binary: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Pinned compares the file at path with its hash. It fails with [ErrHash] when they
// differ.
func Pinned(path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return errors.New("the binary cannot be read")
	}
	defer file.Close()
	return pinned(file, want)
}

func pinned(file *os.File, want string) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.New("the binary is no regular file")
	}
	got, err := hash(file)
	if err != nil {
		return err
	}
	if got != want {
		return ErrHash
	}
	return nil
}
