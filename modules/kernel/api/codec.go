package api

import (
	"errors"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// codec reads and writes envelopes in the protobuf and ProtoJSON forms that Connect
// clients expect. It reports a message that it cannot read in the envelope instead of
// as an error, so that checkRPC refuses it with the same typed detail as other faults.
type codec struct{ name string }

func (c codec) Name() string { return c.name }

func (c codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (c codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	if c.name == "proto" {
		return proto.MarshalOptions{}.MarshalAppend(dst, inner(message))
	}
	return protojson.MarshalOptions{}.MarshalAppend(dst, inner(message))
}

func (c codec) Unmarshal(data []byte, message any) error {
	err := c.unmarshal(data, inner(message))
	if e, ok := message.(*envelope); ok {
		e.broken = err
		return nil
	}
	return err
}

func (c codec) unmarshal(data []byte, message proto.Message) error {
	if c.name == "proto" {
		return proto.Unmarshal(data, message)
	}
	if len(data) == 0 {
		return errors.New("an empty body is no JSON object")
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, message)
}

// inner returns the message of an envelope.
func inner(message any) proto.Message {
	if e, ok := message.(*envelope); ok {
		return e.Message
	}
	m, _ := message.(proto.Message)
	return m
}
