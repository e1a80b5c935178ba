package api

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api/bounds"
	"github.com/scrollery/scrollery/modules/kernel/api/rest"
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
	var found rest.Issues
	rest.EachText(message, func(path, text string) {
		if !rest.IsSound(text) {
			found.Add(path, rest.BadText)
		}
	})
	for _, violation := range checked.Check(message) {
		found.Add(violation.Path, "%s", violation.Message)
	}
	return found.OrNil()
}
