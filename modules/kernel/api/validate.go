package api

import (
	"context"
	"fmt"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// validate checks a request against the bounds in its proto file and adds the issues.
// It returns an error when the rules themselves cannot be applied.
func (m *Mux) validate(s *rest.Issues, op *operation, request proto.Message) error {
	message := request.ProtoReflect()
	if !op.bounded {
		return nil
	}
	rest.CheckTimes(s, op.times, message)
	rest.EachFree(message, func(path string, value *structpb.Value) { rest.CheckFree(s, path, value) })
	checked, err := op.bounds()
	if err != nil {
		return fmt.Errorf("read the bounds of %s: %w", message.Descriptor().FullName(), err)
	}
	for _, violation := range checked.Check(message) {
		s.Add(violation.Path, "%s", violation.Message)
	}
	return nil
}

// judge checks a decoded request for everything that its operation can refuse before it
// runs: the bounds of the proto file and the operation's own Check. found has the faults
// of decoding; the error lists all.
func (m *Mux) judge(ctx context.Context, c *call, b *binding, found *rest.Issues, request proto.Message) error {
	if c.protocol == "rest" || c.protocol == agentProtocol {
		found.Names = b.op.input.Names
	}
	if err := m.validate(found, b.op, request); err != nil {
		return err
	}
	if b.check != nil {
		c.faults = found
		err := b.check(ctx, request)
		c.faults = nil
		if err != nil {
			f := apierr.As(err)
			if f == nil || found.Empty() && f.Kind != apierr.InvalidRequest {
				return err
			}
			for _, issue := range f.Issues {
				found.Add(issue.Path, "%s", issue.Message)
			}
		}
	}
	return found.OrNil()
}

// hasBounds reports whether a message has anything for validate to check.
func hasBounds(desc protoreflect.MessageDescriptor) bool {
	if proto.HasExtension(desc.Options(), validate.E_Message) {
		return true
	}
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		if fd.Message() != nil || proto.HasExtension(fd.Options(), validate.E_Field) {
			return true
		}
	}
	return false
}
