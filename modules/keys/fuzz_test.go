package keys

import "testing"

// FuzzDigest: whatever a stranger sends as a key, it is refused or has the one
// form that the service mints, so that nothing else ever reaches the database.
func FuzzDigest(f *testing.F) {
	for _, text := range []string{"", livePrefix, newKey(livePrefix), newKey(sessionPrefix), newKey(livePrefix) + "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hash, session, ok := Digest(text)
		if !ok {
			if hash != nil || session {
				t.Errorf("a refusal says something: %x, %v", hash, session)
			}
			return
		}
		prefix := livePrefix
		if session {
			prefix = sessionPrefix
		}
		if len(text) != keyLength || text[:len(prefix)] != prefix || len(hash) != 32 {
			t.Errorf("%q was taken", text)
		}
	})
}
