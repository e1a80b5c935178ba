package speech

import (
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// languageNames are Whisper's names of languages, each followed by its tag: OpenAI's endpoint
// answers with the names, others with tags.
const languageNames = `
english en chinese zh german de spanish es russian ru korean ko french fr japanese ja portuguese pt turkish tr
polish pl catalan ca dutch nl arabic ar swedish sv italian it indonesian id hindi hi finnish fi vietnamese vi
hebrew he ukrainian uk greek el malay ms czech cs romanian ro danish da hungarian hu tamil ta norwegian no
thai th urdu ur croatian hr bulgarian bg lithuanian lt latin la maori mi malayalam ml welsh cy slovak sk
telugu te persian fa latvian lv bengali bn serbian sr azerbaijani az slovenian sl kannada kn estonian et
macedonian mk breton br basque eu icelandic is armenian hy nepali ne mongolian mn bosnian bs kazakh kk
albanian sq swahili sw galician gl marathi mr punjabi pa sinhala si khmer km shona sn yoruba yo somali so
afrikaans af occitan oc georgian ka belarusian be tajik tg sindhi sd gujarati gu amharic am yiddish yi lao lo
uzbek uz faroese fo haitian ht pashto ps turkmen tk nynorsk nn maltese mt sanskrit sa luxembourgish lb
burmese my myanmar my tibetan bo tagalog tl malagasy mg assamese as tatar tt hawaiian haw lingala ln hausa ha
bashkir ba javanese jv sundanese su cantonese yue mandarin zh castilian es flemish nl valencian ca
moldavian ro
`

// languageOf is the tag of a language as an endpoint names it; empty if it is none.
func languageOf(said string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	if said == "" || len(said) > 40 {
		return ""
	}
	words := strings.Fields(languageNames)
	for i := 0; i < len(words); i += 2 {
		if words[i] == said {
			return words[i+1]
		}
	}
	return stage.LanguageOf(said) // of names, most are longer than tags
}
