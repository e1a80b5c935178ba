package api

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api/bounds"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// Bounds checks what a module is about to store against the bounds of the request that
// stores it, wherever it came from: an import, an operator's command or a call, which was
// checked before. It returns nil or an InvalidRequest with all faults. Free-form properties
// have FreeBounds.
func Bounds(request proto.Message) error {
	message := request.ProtoReflect()
	checked, err := bounds.Compile(message.Descriptor())
	if err != nil {
		return fmt.Errorf("read the bounds of %s: %w", message.Descriptor().FullName(), err)
	}
	var found issues
	eachText(message, func(path, text string) {
		if !isSound(text) {
			found.add(path, badText)
		}
	})
	for _, violation := range checked.Check(message) {
		found.add(violation.Path, "%s", violation.Message)
	}
	return found.orNil()
}

// FreeBounds is Bounds for the JSON of a free-form property, empty for none; path is its
// name.
func FreeBounds(path string, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	text := jsontext.Value(raw)
	if !text.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return apierr.Invalid(path, "must be an object or null")
	}
	d := newDecoder()
	value := d.freeMember(text, path)
	checkFree(&d.issues, path, value)
	return d.issues.orNil()
}

// orNil is the error of the issues, nil without one.
func (s *issues) orNil() error {
	if s.empty() {
		return nil
	}
	return s.err()
}
