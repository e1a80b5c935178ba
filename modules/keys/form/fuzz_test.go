package form

import "testing"

// FuzzDigest: whatever a stranger sends as a key, it is refused or has the one
// form that the service mints, so that nothing else ever reaches the database.
func FuzzDigest(f *testing.F) {
	for _, text := range []string{"", Live, New(Live), New(Session), New(Live) + "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hash, session, ok := Digest(text)
		if !ok {
			if hash != nil || session {
				t.Errorf("a refusal: got hash %x, session %t; want neither", hash, session)
			}
			return
		}
		prefix := Live
		if session {
			prefix = Session
		}
		if len(text) != length || text[:len(prefix)] != prefix || len(hash) != 32 {
			t.Errorf("%q was taken: got %d bytes and a hash of %d, want %d bytes, prefix %s and a hash of 32", text, len(text), len(hash), length, prefix)
		}
	})
}
