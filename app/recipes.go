package app

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
	"github.com/scrollery/scrollery/plugins/recipe"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxRecipes is how many recipes a folder may have, and maxRecipe the most bytes of one.
	maxRecipes, maxRecipe = 100, 64 << 10
	// maxSecret is the most bytes of a secret's file.
	maxSecret = 16 << 10
)

// beforeRecipes are the sources that a recipe is asked after, as they cost nothing.
func beforeRecipes() []string {
	return []string{"youtube", "tiktok", "instagram", "youtube-feed", "ytdlp"}
}

// recipes reads the recipes that come with the program and those of the operator's folder, of
// which one with the same id goes first. What did not change is not parsed again.
type recipes struct {
	dir    string
	mu     sync.Mutex
	parsed map[string]*recipe.Recipe // by text
}

// recipeFile is one recipe as it is found.
type recipeFile struct {
	id, path string // a shipped one has no path
	text     []byte
	err      error
}

func (r *recipes) late() []host.Late {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.files()
	after := beforeRecipes()
	parsed := map[string]*recipe.Recipe{}
	var all []host.Late
	for _, f := range found {
		one := host.Late{Spec: stage.Spec{ID: f.id, Kind: stage.SourceKind}, Serves: recipe.ID, Err: f.err}
		if f.err == nil {
			read := r.parsed[string(f.text)]
			if read == nil {
				read, one.Err = recipe.Parse(f.text)
			}
			if one.Err == nil && read.ID != f.id {
				one.Err = fmt.Errorf("the file is named %s, and the recipe %s: name both alike", f.id, read.ID)
			}
			if one.Err == nil {
				parsed[string(f.text)] = read
				one.Spec, one.Given = read.Spec(slices.Clone(after)...), read.Given()
				one.Spec.Docs = pageOf(read.Docs)
				r.beside(f, &one)
			}
		}
		if one.Err == nil {
			after = append(after, f.id)
		}
		all = append(all, one)
	}
	r.parsed = parsed
	return all
}

// pageOf is the first page that a recipe was written from, without the day that it was read; empty
// if that is no address.
func pageOf(docs []string) string {
	for _, text := range docs {
		address, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if _, err := weburl.Parse(address); err == nil {
			return address
		}
	}
	return ""
}

// files are the recipes in the order of their ids.
func (r *recipes) files() []recipeFile {
	byID := map[string]recipeFile{}
	for id, text := range recipe.Shipped() {
		byID[id] = recipeFile{id: id, text: text}
	}
	var paths []string
	if r.dir != "" {
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, _ := filepath.Glob(filepath.Join(r.dir, pattern)) // the pattern is sound
			paths = append(paths, found...)
		}
		slices.Sort(paths)
	}
	for n, path := range paths {
		f := recipeFile{id: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yml"), ".yaml"), path: path}
		switch f.text, f.err = readRegular(path, maxRecipe); {
		case n >= maxRecipes:
			f.err = fmt.Errorf("the folder has more than %d recipes", maxRecipes)
		case byID[f.id].path != "":
			f.err = errors.New("there are a .yaml and a .yml of that name")
		}
		byID[f.id] = f
	}
	var all []recipeFile
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		all = append(all, byID[id])
	}
	return all
}

// readRegular reads a file of at most so many bytes.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unnamed(err)
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("no plain file of at most %d KiB", most>>10)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unnamed(err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// unnamed is an error of a file without its path, which the id of the recipe already names.
func unnamed(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// beside reads the files beside the recipes that have a secret or a setting: acme.api_key and
// acme.budget beside acme.yaml. The version of the source follows them.
func (r *recipes) beside(f recipeFile, one *host.Late) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q", f.text, one.Spec.After)
	one.Secrets, one.Settings = map[string]string{}, map[string]string{}
	take := func(name string, secret bool) {
		file := f.id + "." + name
		text, err := readBeside(filepath.Join(r.dir, file), secret)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			one.Err = fmt.Errorf("the file %s: %w", file, err)
		case secret:
			one.Secrets[name] = text
		default:
			one.Settings[name] = text
		}
		fmt.Fprintf(sum, " %q", text)
	}
	for _, name := range one.Spec.Secrets {
		if r.dir != "" {
			take(name, true)
		}
		if f.path != "" {
			one.Unset = fmt.Sprintf("write it into the file %s.%s beside the recipe, readable by the server alone, or set plugins.secrets.%s.%s", f.id, name, f.id, name)
		}
	}
	for _, setting := range one.Spec.Settings {
		if r.dir != "" {
			take(setting.Name, false)
		}
	}
	one.Version = fmt.Sprintf("%x", sum.Sum(nil))
}

func readBeside(path string, secret bool) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", unnamed(err)
	}
	if secret && info.Mode().Perm()&0o077 != 0 {
		return "", errors.New("others than the server may read it: chmod 600")
	}
	text, err := readRegular(path, maxSecret)
	return strings.TrimSpace(string(text)), err
}
