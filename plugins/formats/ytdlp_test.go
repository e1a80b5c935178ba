package formats

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFieldsOfYTDLP: each one that is read is on the program's pages, which the double of it has.
func TestFieldsOfYTDLP(t *testing.T) {
	page, err := os.ReadFile("../ytdlp/ytdlptest/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := append(strings.Fields(string(page)), "is_upcoming") // of older versions, in files of people
	read := reflect.TypeFor[info]()
	for i := range read.NumField() {
		if name := read.Field(i).Tag.Get("json"); !slices.Contains(known, name) {
			t.Errorf("the field %q is read, and on no page", name)
		}
	}
}
