package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// validate checks a request against the bounds in its proto file and adds the issues.
// It returns an error when the rules themselves cannot be applied.
func (m *Mux) validate(s *issues, op *operation, request proto.Message) error {
	message := request.ProtoReflect()
	if !op.bounded {
		return nil
	}
	eachFree(message, func(path string, value *structpb.Value) { checkFree(s, path, value) })
	validator, err := m.validator()
	if err != nil {
		return fmt.Errorf("prepare validation: %w", err)
	}
	if err = validator.Validate(request); err == nil {
		return nil
	}
	var failed *protovalidate.ValidationError
	if !errors.As(err, &failed) {
		return fmt.Errorf("validate %s: %w", message.Descriptor().FullName(), err)
	}
	for _, violation := range failed.Violations {
		s.add(jsonPath(message.Descriptor(), violation.Proto.GetField()), "%s", violation.Proto.GetMessage())
	}
	return nil
}

// judge checks a decoded request for everything that its operation can refuse before it
// runs: the bounds of the proto file and the operation's own Check. found has the faults
// of decoding; the error lists all.
func (m *Mux) judge(ctx context.Context, c *call, b *binding, found *issues, request proto.Message) error {
	if c.protocol == "rest" {
		found.names = b.op.input.restNames
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
			if f == nil || found.empty() && f.Kind != apierr.InvalidRequest {
				return err
			}
			for _, issue := range f.Issues {
				found.add(issue.Path, "%s", issue.Message)
			}
		}
	}
	if found.empty() {
		return nil
	}
	return found.err()
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

// eachFree visits the free-form properties of a request.
func eachFree(message protoreflect.Message, do func(path string, value *structpb.Value)) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if fd.Message() == nil || fd.IsList() || fd.IsMap() || !message.Has(fd) {
			continue
		}
		if value, ok := message.Get(fd).Message().Interface().(*structpb.Value); ok {
			do(fd.JSONName(), value)
		}
	}
}

// eachText visits the texts of a request.
func eachText(message protoreflect.Message, do func(path, text string)) {
	message.Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if fd.Kind() != protoreflect.StringKind {
			return true
		}
		if !fd.IsList() {
			do(fd.JSONName(), value.String())
			return true
		}
		for i := range value.List().Len() {
			do(fd.JSONName()+"["+strconv.Itoa(i)+"]", value.List().Get(i).String())
		}
		return true
	})
}

// jsonPath writes a violation's path in JSON names.
func jsonPath(desc protoreflect.MessageDescriptor, path *validate.FieldPath) string {
	var text strings.Builder
	for _, element := range path.GetElements() {
		name := element.GetFieldName()
		if desc != nil {
			if fd := desc.Fields().ByNumber(protoreflect.FieldNumber(element.GetFieldNumber())); fd != nil {
				name, desc = fd.JSONName(), fd.Message()
			}
		}
		if text.Len() > 0 {
			text.WriteByte('.')
		}
		text.WriteString(name)
		if _, ok := element.GetSubscript().(*validate.FieldPathElement_Index); ok {
			text.WriteString("[" + strconv.FormatUint(element.GetIndex(), 10) + "]")
		}
	}
	return text.String()
}
