package formats

import (
	"reflect"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/plugins/ytdlp/ytdlptest"
)

// TestFieldsOfYTDLP: each one that is read is on the program's pages.
func TestFieldsOfYTDLP(t *testing.T) {
	known := append(ytdlptest.Fields(), "is_upcoming") // of older versions, in files of people
	read := reflect.TypeFor[info]()
	for i := range read.NumField() {
		if name := read.Field(i).Tag.Get("json"); !slices.Contains(known, name) {
			t.Errorf("the field %q is read, and on no page", name)
		}
	}
}
