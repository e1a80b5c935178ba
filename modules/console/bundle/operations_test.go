package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// withoutPage are the operations that no page calls, each with the reason.
var withoutPage = map[string]string{
	"exportAccount":        "missing: an export is made with `scrollery export`",
	"getPolicy":            "a page of the documentation has the table",
	"eraseAccount":         "missing: an account is erased with `scrollery account erase`",
	"topup":                "credits pay for the sandbox alone, which has no page",
	"confirmTopup":         "credits pay for the sandbox alone, which has no page",
	"signup":               "accounts of the sandbox are made by programs; people use the checkout",
	"claimSignup":          "accounts of the sandbox are made by programs; people use the checkout",
	"listChanges":          "for programs: a page reads their summary",
	"watchChanges":         "for programs: a page reads the changes when it is opened",
	"importVideos":         "for programs that have records and no file",
	"listImports":          "missing: a page shows the import that it made",
	"recover":              "missing: a lost key is recovered with `scrollery key recover`",
	"reissue":              "missing: a lost key is recovered with `scrollery key recover`",
	"getHooks":             "the published form of listHooks, which the page calls",
	"getOutliers":          "the published form of listOutliers, which the page calls",
	"getTrends":            "the published form of listTrends, which the page calls",
	"listLibraryDeletions": "missing: a page offers the undo of the deletion that it made",
	"backtestOutliers":     "missing: the numbers are in the API and the command line",
	"backtestTrends":       "missing: the numbers are in the API and the command line",
	"writeSandboxFile":     "the sandbox is for programs",
	"runAgent":             "the sandbox is for programs",
	"listTemplates":        "missing: a scroll is started by its prompt",
	"getHealth":            "for programs that watch the server",
}

// TestEveryOperationHasAPage compares the operations of the API with what the sources of the
// console call.
func TestEveryOperationHasAPage(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	err := filepath.WalkDir("../src", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".ts") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, call := range regexp.MustCompile(`\.(\w+)\(`).FindAllSubmatch(content, -1) {
			called[string(call[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(filepath.Join("../../..", descriptors))
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(image, &set); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range set.File {
		for _, service := range file.Service {
			for _, method := range service.Method {
				name := strings.ToLower(method.GetName()[:1]) + method.GetName()[1:]
				all[name] = true
				if why := withoutPage[name]; !called[name] && why == "" {
					t.Errorf("no page calls %s; want a page, or a reason in withoutPage", name)
				} else if called[name] && why != "" {
					t.Errorf("a page calls %s, want it out of withoutPage", name)
				}
			}
		}
	}
	if len(all) < 50 {
		t.Fatalf("got %d operations, want all of the API", len(all))
	}
	for name := range withoutPage {
		if !all[name] {
			t.Errorf("withoutPage has %s, which is no operation", name)
		}
	}
}
