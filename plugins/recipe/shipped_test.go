package recipe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecipesThatAreShipped: each is sound, has the name of its file, its pages with a date, and the
// secret and budget that the environment sets.
func TestRecipesThatAreShipped(t *testing.T) {
	t.Parallel()
	var ids []string
	files, err := filepath.Glob("shipped/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ids = append(ids, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	if want := slices.Sorted(slices.Values(ShippedIDs())); !slices.Equal(ids, want) {
		t.Errorf("files %v, want %v", ids, want)
	}
	for id, text := range Shipped() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			recipe, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			spec := recipe.Spec()
			if err := spec.Validate(); err != nil || spec.ID != id {
				t.Errorf("%s: %v, want the spec of %s", spec.ID, err, id)
			}
			if !slices.Equal(spec.RequiredSecrets, Variables(id).Secrets) || len(spec.Quotas) != 1 || !spec.Quotas[0].Money {
				t.Errorf("secrets %v, quotas %+v; want an api_key and a budget", spec.RequiredSecrets, spec.Quotas)
			}
			if !strings.Contains(strings.Join(recipe.Docs, " "), "(2026-") {
				t.Errorf("docs %v, want pages with the date of reading", recipe.Docs)
			}
		})
	}
}

// TestTheExampleOfTheDocs: the recipe in docs/recipes.md is sound as it stands.
func TestTheExampleOfTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	recipe, err := Parse([]byte(strings.ReplaceAll(text, "\n   ", "\n")[3:]))
	if err != nil || recipe.ID != "acme" || len(strings.Split(strings.TrimSpace(text), "\n")) > 30 {
		t.Errorf("%v, want a recipe of at most 30 lines:\n%s", err, text)
	}
}
