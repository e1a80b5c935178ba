// Package docs_test checks the documents against the tree.
package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/app"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// documents are all pages, with the folder that their code paths are relative to.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("got %d documents, %v, want some", len(pages), err)
	}
	pages = append(pages, "deploy/README.md")
	if _, err := os.Stat("../README.md"); err == nil {
		pages = append(pages, "../README.md")
	}
	return pages
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFilesThatAreNamedExist: a path in backquotes is a file or folder of the tree.
func TestFilesThatAreNamedExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`((?:app|cmd|docs|ent|modules|plugins|proto|\\.ci)/[A-Za-z0-9_./-]*|Makefile|go\\.mod)`")
	for _, page := range documents(t) {
		for _, match := range named.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join("..", match[1])); err != nil {
				t.Errorf("%s names %s: %v", page, match[1], err)
			}
		}
	}
}

// TestLinksLeadSomewhere: a relative link is a file.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), match[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
			}
		}
	}
}

// TestMakeTargetsExist: `make x` names a target.
func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	// docs/extenders.md also uses the Makefile of the kit.
	makefile := read(t, "../Makefile") + read(t, "../app/host/kit/templates/go/common/Makefile.tmpl")
	target := regexp.MustCompile("(?m)`make (?:-C [a-z]+ )?([a-z][a-z-]*)`|^    make (?:-C [a-z]+ )?([a-z][a-z-]*)|^make (?:-C [a-z]+ )?([a-z][a-z-]*)")
	for _, page := range documents(t) {
		for _, match := range target.FindAllStringSubmatch(read(t, page), -1) {
			name := match[1] + match[2] + match[3]
			if !strings.Contains(makefile, "\n"+name+":") {
				t.Errorf("%s names make %s, want such a target in the Makefile", page, name)
			}
		}
	}
}

// TestSettingsAreAllExplained: operations.md has a row for each variable.
func TestSettingsAreAllExplained(t *testing.T) {
	t.Parallel()
	text := read(t, "operations.md")
	for _, setting := range app.Settings() {
		if row := "| `" + app.Prefix + setting.Name + "` |"; !strings.Contains(text, row) {
			t.Errorf("got no row %s in operations.md, want one", row)
		}
	}
}

// TestExampleStageIsTheOneThatIsTested: the reference shows docs/loud/main.go.
func TestExampleStageIsTheOneThatIsTested(t *testing.T) {
	t.Parallel()
	_, code, _ := strings.Cut(read(t, "loud/main.go"), "\npackage main\n")
	code = strings.ReplaceAll(code, "\t", "    ")
	shown := regexp.MustCompile(`(?m)^    `).ReplaceAllString(read(t, "extenders-reference.md"), "")
	if code == "" || !strings.Contains(shown, code) {
		t.Errorf("got another stage in extenders-reference.md, want the code of loud/main.go:\n%s", code)
	}
}

// TestGlossaryIsShort: at most 30 words, each explained once and in order.
func TestGlossaryIsShort(t *testing.T) {
	t.Parallel()
	var words []string
	for _, match := range regexp.MustCompile(`(?m)^\| ([a-z]+) \|`).FindAllStringSubmatch(read(t, "glossary.md"), -1) {
		words = append(words, match[1])
	}
	if len(words) < 10 || len(words) > 30 {
		t.Errorf("glossary.md has %d words, want 10 to 30: %q", len(words), words)
	}
	want := slices.Compact(slices.Sorted(slices.Values(words)))
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("words of glossary.md, in order and once each (-want +got):\n%s", diff)
	}
}

// TestSkippedTestsExist: the tests that `make race` and `make heavy` leave out, and of `make measures`, are tests of the tree, and what
// `make test` leaves out or makes smaller is in the list of `make heavy`.
func TestSkippedTestsExist(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	var whole []string
	long := regexp.MustCompile(`(?s)\nfunc (Test\w+)[^\n]*\n(?:\t[^\n]*\n|\n)*?\t[^\n]*storetest\.(?:Long|Heavy)\(`)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(read(t, path), -1) {
			tests[match[1]] = true
		}
		for _, match := range long.FindAllStringSubmatch(read(t, path), -1) {
			whole = append(whole, match[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(whole)
	listed := strings.Split(regexp.MustCompile(`(?m)^WHOLE += (.*)$`).FindStringSubmatch(read(t, "../Makefile"))[1], "|")
	slices.Sort(listed)
	if diff := cmp.Diff(whole, listed); diff != "" {
		t.Errorf("WHOLE in the Makefile, and the tests that ask for storetest.Long or Heavy (-tests +listed):\n%s", diff)
	}
	lists := regexp.MustCompile(`(?m)^(?:CONFINED|LONG|LARGEST|MEASURES) += (.*)$`).FindAllStringSubmatch(read(t, "../Makefile"), -1)
	if len(lists) != 4 {
		t.Fatalf("the Makefile has %d lists of tests, want 4", len(lists))
	}
	for _, list := range lists {
		for _, pattern := range strings.Split(list[1], "|") {
			matches := func(name string) bool { return strings.Contains(name, pattern) }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), matches) {
				t.Errorf("the Makefile skips %s: got no test of that name, want one", pattern)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the generated parts of the documents")

// TestOperationsAreAllListed: the table in api.md lists the operations of the linked descriptors.
func TestOperationsAreAllListed(t *testing.T) {
	t.Parallel()
	written(t, "api.md", "<!-- operations: written by go test ./docs -update -->\n", "<!-- end of operations -->", operations())
}

// written compares the part of a page between two marks with what it is made from, or writes it.
func written(t *testing.T, page, begin, end, made string) {
	t.Helper()
	text := read(t, page)
	head, rest, found := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("got no place for what is made in %s, want one", page)
	}
	want := head + begin + made + end + tail
	if text == want {
		return
	}
	if !*update {
		t.Fatalf("got something else in %s than in the .proto files, want the same: go test ./docs -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// operations renders a row for each operation that the linked descriptors have.
func operations() string {
	var rows []string
	files := []protoreflect.FileDescriptor{
		scrolleryv1.File_scrollery_v1_system_service_proto, scrolleryv1.File_scrollery_v1_billing_service_proto,
		scrolleryv1.File_scrollery_v1_keys_service_proto, scrolleryv1.File_scrollery_v1_changes_service_proto, scrolleryv1.File_scrollery_v1_webhooks_service_proto,
		scrolleryv1.File_scrollery_v1_workspace_service_proto,
		scrolleryv1.File_scrollery_v1_rules_service_proto, scrolleryv1.File_scrollery_v1_scrolls_service_proto,
		scrolleryv1.File_scrollery_v1_library_service_proto, scrolleryv1.File_scrollery_v1_usage_service_proto,
		scrolleryv1.File_scrollery_v1_briefs_service_proto, scrolleryv1.File_scrollery_v1_sandbox_service_proto,
	}
	// Those that the order does not name come last.
	var others []protoreflect.FileDescriptor
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		if !slices.ContainsFunc(files, func(f protoreflect.FileDescriptor) bool { return f.Path() == file.Path() }) {
			others = append(others, file)
		}
		return true
	})
	slices.SortFunc(others, func(a, b protoreflect.FileDescriptor) int { return strings.Compare(a.Path(), b.Path()) })
	files = append(files, others...)
	for _, file := range files {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				rows = append(rows, row(service, service.Methods().Get(j)))
			}
		}
	}
	return "| REST | Connect | Operation id | Scope | Paid | Units |\n|---|---|---|---|---|---|\n" + strings.Join(rows, "")
}

func row(service protoreflect.ServiceDescriptor, method protoreflect.MethodDescriptor) string {
	op := proto.GetExtension(method.Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
	rest, scope, paid := "-", "public", ""
	if op.GetPath() != "" {
		rest = "`" + op.GetMethod() + " " + op.GetPath() + "`"
	}
	if slices.Contains([]scrolleryv1.Auth{scrolleryv1.Auth_AUTH_KEY, scrolleryv1.Auth_AUTH_OLDER_KEY}, op.GetAuth()) {
		if scope = "any"; op.GetScope() != "" {
			scope = "`" + op.GetScope() + "`"
		}
	}
	if op.GetSubscription() {
		paid = "yes"
	}
	return fmt.Sprintf("| %s | `%s/%s` | `%s` | %s | %s | %d |\n", rest, service.Name(), method.Name(), op.GetId(), scope, paid, op.GetUnits())
}
