package language

import "testing"

func TestGuess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"How to make the best coffee at home with this one trick":              "en",
		"Cómo hacer café frío en casa sin máquina, la receta que más me gusta": "es",
		"POURQUOI ACHETER une RTX 5070 pour VOTRE CONFIG PC ?":                 "fr",
		"Warum ich keinen Kaffee mehr trinke und was das mit mir macht":        "de",
		"Perché il caffè della moka non è mai come al bar":                     "it",
		"Você não vai acreditar no que essa cafeteira faz":                     "pt",
		"Waarom ik dit niet meer doe en wat je ook kan proberen":               "nl",
		"Hvad gør vi, når vinden ikke blæser, og solen ikke skinner?":          "da",
		"Jag är inte säker på varför, men det här är bäst":                     "sv",
		"真的不要先急著同居！":                                                           "zh",
		"おいしいコーヒーの作り方":                                                         "ja",
		"집에서 커피 만들기":                                                           "ko",
		"Как сварить кофе дома, это просто":                                    "ru",
		"Як зварити каву вдома, це дуже легко її":                              "uk",
		"👀🔥":                "",
		"#coffee #espresso": "",
		"iPhone 17 Pro":     "",
		"Moka":              "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			languages := Guess(text)
			got := ""
			if len(languages) == 1 { // several are no answer
				got = languages[0]
			}
			if got != want {
				t.Errorf("the language is %q of %q, want %q", got, languages, want)
			}
		})
	}
}

func TestCodeOfWhatSourcesDeclare(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]string{"en-US": "en", "pt_BR": "pt", "nb": "no", "und": "", "english": "", "": ""} {
		if got := Code(declared); got != want {
			t.Errorf("the code of %q: got %q, want %q", declared, got, want)
		}
	}
}
