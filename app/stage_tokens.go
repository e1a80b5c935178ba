package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// stageTokens implements the host's need of tokens by a sealed file for each, in the data
// folder. Workers on several machines must share the folder, or each has tokens of its own.
type stageTokens struct {
	folder string
	sealer func() (*secret.Sealer, error)
}

// storedToken is a token with the hash of the operator's value that it came from: another
// value of the operator takes its place.
type storedToken struct {
	First string `json:"first"`
	Value string `json:"value"`
}

func newStageTokens(cfg Config) stageTokens {
	return stageTokens{filepath.Join(cfg.DataDir, "tokens"), cfg.sealer()}
}

func (t stageTokens) Load(_ context.Context, plugin, name, first string) (string, error) {
	sealed, err := os.ReadFile(t.path(plugin, name))
	if errors.Is(err, fs.ErrNotExist) {
		return first, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token %s of %s: %w", name, plugin, err)
	}
	sealer, err := t.sealer()
	if err != nil {
		return "", err
	}
	var stored storedToken
	plain, err := sealer.Open(sealed, place(plugin, name))
	if err == nil {
		err = json.Unmarshal(plain, &stored)
	}
	if err != nil {
		return "", fmt.Errorf("open the token %s of %s; delete %s to use the configured one: %w", name, plugin, t.path(plugin, name), err)
	}
	if stored.First != hashed(first) {
		return first, nil
	}
	return stored.Value, nil
}

func (t stageTokens) Save(ctx context.Context, plugin, name, first, value string) error {
	sealer, err := t.sealer()
	if err != nil {
		return err
	}
	plain, err := json.Marshal(storedToken{hashed(first), value})
	if err != nil {
		return err
	}
	unlock, err := t.lock(ctx)
	if err != nil {
		return fmt.Errorf("store the token %s of %s: %w", name, plugin, err)
	}
	defer unlock()
	if err := t.write(t.path(plugin, name), sealer.Seal(plain, place(plugin, name))); err != nil {
		return fmt.Errorf("store the token %s of %s: %w", name, plugin, err)
	}
	return nil
}

// lock keeps the writers of tokens apart, in all processes that share the folder.
func (t stageTokens) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, err
	}
	held, err := flock.Wait(ctx, t.folder+".lock")
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Release() }, nil
}

// Reseal seals with the newest key what older ones sealed, and returns how many tokens. A renewal
// waits for it.
func (t stageTokens) Reseal(ctx context.Context) (resealed int, err error) {
	paths, err := filepath.Glob(filepath.Join(t.folder, "[^.]*.*"))
	if err != nil || len(paths) == 0 {
		return 0, err
	}
	unlock, err := t.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	sealer, err := t.sealer()
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		sealed, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !sealer.IsOld(sealed) {
			continue
		}
		plugin, name, _ := strings.Cut(filepath.Base(path), ".")
		if err == nil {
			sealed, err = sealer.Reseal(sealed, place(plugin, name))
		}
		if err == nil {
			err = t.write(path, sealed)
		}
		if err != nil {
			return resealed, fmt.Errorf("seal %s again: %w", path, err)
		}
		resealed++
	}
	return resealed, nil
}

// write replaces a file as a whole. It is on the disk when write returns.
func (t stageTokens) write(path string, sealed []byte) error {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(t.folder, ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(sealed)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(t.folder)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// path is the file of a token: neither an id nor a name has a dot.
func (t stageTokens) path(plugin, name string) string {
	return filepath.Join(t.folder, plugin+"."+name)
}

func place(plugin, name string) string { return "token " + plugin + " " + name }

func hashed(first string) string {
	sum := sha256.Sum256([]byte(first))
	return hex.EncodeToString(sum[:])
}
