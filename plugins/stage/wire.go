// Package wire turns what stages and host exchange into messages and back.
//
// It is for the two ends of the protocol, plugins/stage and app/pluginhost. A
// stage's author needs none of it. Decoding copies as little as it can and judges
// nothing: what a stage sends is checked by the host with Clean.
package stage

// Both ends name these in the handshake.
const (
	// ProtocolVersion of the protocol; it changes when an old stage can no longer be served.
	ProtocolVersion = 1
	// CookieKey and CookieValue tell a stage that a host started it. They are no secret.
	CookieKey   = "SCROLLERY_STAGE"
	CookieValue = "research-stage-1"
	// ServiceName of the one service behind the handshake.
	ServiceName = "stage"
)

// The bounds of a batch and of a message.
const (
	// BatchItems is how many items travel together.
	BatchItems = 50
	// BatchBytes closes a batch early, so that big records stay far below MaxMessage.
	BatchBytes = 1 << 20
	// MaxMessage in bytes.
	MaxMessage = 8 << 20
)
