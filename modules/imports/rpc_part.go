package imports

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// A part has readings one after the other: the part of the input, the size of the record,
// and the record as plugins send it.

func appendReading(dst []byte, rec *stage.Record, part int) ([]byte, error) {
	message := stage.EncodeRecord(rec)
	dst = binary.AppendUvarint(dst, uint64(part))
	dst = binary.AppendUvarint(dst, uint64(proto.Size(message)))
	dst, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(dst, message)
	if err != nil {
		return nil, fmt.Errorf("encode a reading: %w", err)
	}
	return dst, nil
}

var errPart = errors.New("a stored part is not what was stored")

// unpart returns the readings of a part.
func unpart(data []byte) (readings []Reading, err error) {
	for len(data) > 0 {
		part, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errPart
		}
		size, m := binary.Uvarint(data[n:])
		if m <= 0 || size > uint64(len(data)-n-m) {
			return nil, errPart
		}
		data = data[n+m:]
		var message stagev1.Record
		if err := proto.Unmarshal(data[:size], &message); err != nil {
			return nil, fmt.Errorf("decode a reading: %w", err)
		}
		readings = append(readings, Reading{stage.DecodeRecord(&message), int(part)})
		data = data[size:]
	}
	return readings, nil
}
