package operator

import "context"

// EraseOrder names a creator by handle, by the platform's id, or by both.
type EraseOrder struct{ Platform, Handle, CreatorID, Reason string }

// Receipt says what an erasure deleted, signed with the server's key. Times are Unix milliseconds.
type Receipt struct {
	ID       string `json:"id"`
	Platform string `json:"platform"`
	// Creator is the keyed hash of the name that was asked for.
	Creator string `json:"creator"`
	Reason  string `json:"reason"`
	// Accounts had a video of the creator.
	Accounts   int    `json:"accounts"`
	Videos     int    `json:"videos"`
	Readings   int    `json:"readings"`
	StartedAt  int64  `json:"startedAt"`
	FinishedAt int64  `json:"finishedAt"`
	Signature  string `json:"signature"`
}

// Held is what all accounts have of a source.
type Held struct {
	Source   string
	Accounts int
	Readings int64
	// OldestAt is in Unix milliseconds.
	OldestAt int64
}

// Held returns what all accounts have, by source.
func (s *Service) Held(ctx context.Context) ([]Held, error) { return s.needs.Creators.Held(ctx) }

// EraseCreator deletes a creator from the libraries of all accounts, and keeps them out. One that
// was cut off goes on.
func (s *Service) EraseCreator(ctx context.Context, order EraseOrder) (*Receipt, error) {
	return s.needs.Creators.Erase(ctx, order)
}

// CheckReceipt returns a receipt; an error says that this server did not sign it as it is.
func (s *Service) CheckReceipt(text []byte) (*Receipt, error) {
	return s.needs.Creators.CheckReceipt(text)
}
