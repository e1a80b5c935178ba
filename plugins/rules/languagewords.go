package rules

import (
	"strings"
	"sync"
)

// commonWords gives the languages in which a word is among the commonest. A word
// may stand under several.
var commonWords = sync.OnceValue(func() map[string][]string {
	words := map[string][]string{}
	for _, line := range strings.Split(wordLists, "\n") {
		language, list, _ := strings.Cut(line, ":")
		for w := range set(list) {
			words[w] = append(words[w], language)
		}
	}
	return words
})

const wordLists = `en:the and you your this that with what is are it's it’s i'm i’m don't don’t how my of they have just when which would from about why who did been not best every here our their its than then first only make was we be it by here's you're can these there new vs after before without under should does to for on at no do i in an or so if will all more get has had her him his us were into out up over one some me but like need
es:el los las pero muy cómo esto está más yo mi porque hay tu así también hacer todo mejor lo del que para una en con no por la de un como se es son si le qué sin sobre este esta ya nos cuando
fr:tu il faut ton ta tes vos chez quoi aussi fait toi moi deux avis son y où ni les est et pour dans avec une vous nous c'est c’est pas mais sur ce qui ma mon mes j'ai j’ai cette tout comment pourquoi quel quelle votre aux au plus ça faire je du sont bien très enfin moins encore entre que en la le des de un à on ne se par son sa ses ou meilleur mieux
de:der und ist nicht ich mit wie ein eine auf für auch wir ihr sich den dem aber oder wenn warum noch nur mehr kann das sind von zum zur einen dein deine beim hier des die zu es im so bei aus als was man wird
it:il che di per non sono gli questo questa come più della anche perché mio cosa nel è ti ho una con la le un e si del i da se mi fare
pt:não uma você com como mais em os meu minha isso esse essa muito são do da fazer pra tudo que para por no na de o e um se dos seu sua
nl:het een van niet zijn ik jij dat maar voor naar ook wat deze bij wij heb hoe waarom en de die is met te op in je we er aan als nog
da:og er ikke jeg du vi har til med på det som af hvad hvor hvorfor hvordan kan skal min din vores være om men så fra mere også dig mig noget hvis nu et alle eller blive meget hvem dette bare gør danmark den der for i en ud ind efter af dem jeres os
no:og er ikke jeg du vi har til med på det som av hva hvor hvorfor hvordan kan skal min din være om men så fra mer også deg meg noe hvis nå et alle eller bli mye hvem dette bare gjør den for i en ut inn etter dere oss enn
sv:och är inte jag du vi har till med på det som av vad var varför hur kan ska min din vara om men så från mer också dig mig något nu ett alla eller bli mycket vem detta bara gör den för att i en
fi:ja ei että mutta minä sinä olen kun niin myös ovat tämä on se hän mitä miten miksi ole voi nyt vain
pl:nie się jest jak na że dla czy ale tylko tak po co mnie już bardzo to w z do i o jej moje
tr:ve bir bu için çok ne değil ile gibi daha ama benim nasıl kadar mi de da en var yok
id:yang dan ini itu untuk tidak dengan aku kamu ada bisa dari saya banget jangan di ke
vi:và của không là có cho một người được này với trong khi mình
cs:je jsem není jsou jsme tento když na se to že jak ale si
ro:și este care nu pentru sunt mai această la cu de în un o ce
hu:és hogy nem egy az ez mint csak a de van meg`
