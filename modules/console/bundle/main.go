// Command bundle builds modules/console/dist from modules/console/src: it gets the
// packages of the lock file with npm, generates the clients of the API, checks the types,
// bundles and gathers the licences of what was bundled. Run it in the root of the
// repository; it does nothing when its inputs are those of the last build. Where npm
// cannot get the packages, it removes dist and says so: the rest is built without the
// console.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

const (
	root        = "modules/console"
	descriptors = "proto/gen/api.binpb"
	// stamp holds the hash of the inputs. Its first letter keeps it out of the binary.
	stamp = "dist/.inputs"
	// deadline bounds the whole build, downloads included.
	deadline = 10 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	err := build(ctx)
	if errors.Is(err, errPackages) && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "The console is left out:", err)
		err = os.RemoveAll(filepath.Join(root, "dist"))
	}
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle the console:", err)
		os.Exit(1)
	}
}

// errPackages is a registry that cannot be reached, or lacks a package.
var errPackages = errors.New("npm did not get the packages")

func build(ctx context.Context) error {
	inputs, err := hashInputs()
	if err != nil {
		return err
	}
	if last, err := os.ReadFile(filepath.Join(root, stamp)); err == nil && string(last) == inputs {
		return nil
	}
	if err := install(ctx); err != nil {
		return err
	}
	if err := generate(ctx); err != nil {
		return fmt.Errorf("generate the clients of the API: %w", err)
	}
	if err := run(ctx, "node_modules/.bin/tsc", "--project", "."); err != nil {
		return fmt.Errorf("check the types: %w", err)
	}
	files, err := bundle(ctx)
	if err != nil {
		return err
	}
	return write(files, inputs)
}

// write replaces dist. Beside each file of the console is the one that goes into the binary, which
// is a third as large. The stamp comes last: a build that was cut off is not current.
func write(files map[string][]byte, inputs string) error {
	folder := filepath.Join(root, "dist")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
		packed, err := pack(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+".gz"), packed, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, stamp), []byte(inputs), 0o644)
}

// pack compresses a file, to the same bytes in every build.
func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(content)
		err = errors.Join(err, writer.Close())
	}
	return packed.Bytes(), err
}

// hashInputs covers everything that decides the output: the sources, the lock, the
// descriptors and this program, with the version of esbuild in go.mod.
func hashInputs() (string, error) {
	sum := sha256.New()
	add := func(path string) error {
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(path), len(content))
		sum.Write(content)
		return err
	}
	for _, folder := range []string{"src", "bundle"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			return add(path)
		})
		if err != nil {
			return "", err
		}
	}
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json"} {
		if err := add(filepath.Join(root, name)); err != nil {
			return "", err
		}
	}
	if err := add("go.mod"); err != nil {
		return "", err
	}
	if err := add(descriptors); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// install gets the packages of the lock file, each checked against its hash, and runs no
// script of theirs. It does nothing while the lock is the one that was installed.
func install(ctx context.Context) error {
	lock, err := os.ReadFile(filepath.Join(root, "package-lock.json"))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(lock)
	want, mark := hex.EncodeToString(sum[:]), filepath.Join(root, "node_modules", ".installed")
	if last, err := os.ReadFile(mark); err == nil && string(last) == want {
		return nil
	}
	if err := run(ctx, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"); err != nil {
		return fmt.Errorf("%w: %w", errPackages, err)
	}
	return os.WriteFile(mark, []byte(want), 0o644)
}

// run executes a program in the folder of the console.
func run(ctx context.Context, program string, arguments ...string) error {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = root
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}

// sortedKeys makes what is derived from a map the same in every build.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
