package words

import "testing"

// TestStemsOfQuotedWords has words in quotes and marks, as captions have them.
func TestStemsOfQuotedWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"'Giveaways'": "giveaway", "’giveaways’": "giveaway", "giveaways’": "giveaway", "_GIVEAWAYS": "giveaway",
		"giveaway_": "giveaway", "Maker’s": "maker", "maker's": "maker", "café": "café", "’": "", "": "",
	} {
		if got := Stem(word); got != want {
			t.Errorf("the stem of %q: got %q, want %q", word, got, want)
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	text := In("Unboxing l’iPhone at MAKER's @shop.eu 🎁 おいしいコーヒー", map[string]bool{"samsungtips": true, "pineapple": true, "politics": true})
	for said, want := range map[string]bool{
		"unboxings": true, "unbox": true, "iphone": true, "maker": true, "@shop.eu": true, "🎁": true, "コーヒー": true, "political": true,
		"samsung": true, "apple": false, "box": false, "iphone at maker": true, "maker iphone": false, "": false,
	} {
		if got := text.Mentions(PhraseOf(said)); got != want {
			t.Errorf("mentions %q: got %v, want %v", said, got, want)
		}
	}
	for said, want := range map[string]bool{"unboxing": true, "unboxings": false, "unbox": false} {
		if got := text.Mentions(Literal(said)); got != want {
			t.Errorf("mentions %q as it is: got %v, want %v", said, got, want)
		}
	}
}
