package stage

// This file and those named wire_ translate between the nouns and the messages of the
// protocol, for the host and for Main; authors of stages need none of it. Decoding
// copies as little as it can and checks nothing: the host does, with the Clean methods.

// Both ends name these in the handshake.
const (
	// ProtocolVersion of the protocol; it changes when an old stage can no longer be served.
	ProtocolVersion = 1
	// CookieKey and CookieValue tell a stage that a host started it. They are no secret.
	CookieKey   = "SCROLLERY_STAGE"
	CookieValue = "research-stage-1"
	// ServiceName is the one service behind the handshake.
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
