package usage

import (
	"encoding/binary"
	"errors"
	"time"
)

var errEntry = errors.New("an entry of the journal is not one of this version's")

// appendEntry encodes events as one entry of the journal: a byte for the version, then
// each event's numbers as varints and its texts with their lengths.
func appendEntry(to []byte, events []event) []byte {
	to = append(to, 1)
	for _, e := range events {
		for _, n := range []int64{e.id, e.accountID, e.keyID, e.units, e.at.UnixMilli()} {
			to = binary.AppendVarint(to, n)
		}
		for _, text := range []string{e.op, e.status} {
			to = binary.AppendUvarint(to, uint64(len(text)))
			to = append(to, text...)
		}
	}
	return to
}

// readEntry decodes events.
func readEntry(entry []byte) (events []event, err error) {
	if len(entry) == 0 || entry[0] != 1 {
		return nil, errEntry
	}
	rest := entry[1:]
	number := func() int64 {
		n, size := binary.Varint(rest)
		if size <= 0 {
			err, size = errEntry, len(rest)
		}
		rest = rest[size:]
		return n
	}
	text := func() string {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			err, rest = errEntry, nil
			return ""
		}
		text := string(rest[size:][:n])
		rest = rest[size+int(n):]
		return text
	}
	for len(rest) > 0 && err == nil {
		e := event{id: number(), accountID: number(), keyID: number(), units: number()}
		e.at = time.UnixMilli(number())
		e.op, e.status = text(), text()
		events = append(events, e)
	}
	return events, err
}
