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

const wordLists = `en:the and you your this that with what is are it's it’s i'm i’m don't don’t how my of they have just when which would from about why who did been not best every here our their its than then first only make was we be it by here's you're can these there new vs after before without under should does to for on at no do i in an or so if will all more get has had her him his us were into out up over one some me but like need i'll we've they're she them because while also really know think want made never always now today good better year years life love look got gonna wanna let's that's there's won't can't didn't doesn't isn't much many most being going come back down off again same anyone everyone someone could those doing both where
es:el los las pero muy cómo esto está más yo mi porque hay tu así también hacer todo mejor lo del que para una en con no por la de un como se es son si le qué sin sobre este esta ya nos cuando mis sus nuestro nuestra ella ellos nosotros usted ustedes eso esa esos esas aquí allí ahora siempre nunca tiene tienen tengo hago hace puede puedes puedo quiero quieres voy vamos ser estar estoy están era fue donde dónde quién quien cuál mucho mucha muchos poco todos todas nada alguien bien peor nuevo nueva día años vida gente aunque desde hasta entre contra según
fr:tu il faut ton ta tes vos chez quoi aussi fait toi moi deux avis son y où ni les est et pour dans avec une vous nous c'est c’est pas mais sur ce qui ma mon mes j'ai j’ai cette tout comment pourquoi quel quelle votre aux au plus ça faire je du sont bien très enfin moins encore entre que en la le des de un à on ne se par son sa ses ou meilleur mieux voici voilà lequel laquelle quels quelles nouveau nouvelle nouveaux meilleurs meilleure meilleures choisir cher ans jours mois sous chaque toujours jamais trop peu leur leurs notre nos elle elles ils était être avoir avait peut veut fais dit quand parce alors même après avant lors contre toute tous toutes rien quelque déjà vraiment cet ces
de:der und ist nicht ich mit wie ein eine auf für auch wir ihr sich den dem aber oder wenn warum noch nur mehr kann das sind von zum zur einen dein deine beim hier des die zu es im so bei aus als was man wird sie euch uns mir dir ihm ihn ihre seine unser euer diese dieser dieses jetzt immer nie hat haben hatte waren werden wurde würde muss müssen soll wollen können könnte gibt geht macht machen gut besser beste besten neue neuen alles viel viele sehr schon denn doch weil damit ohne gegen unter über zwischen durch nach seit heute morgen jahr jahre leute kein keine keinen ganz einfach richtig echt
it:il che di per non sono gli questo questa come più della anche perché mio cosa nel è ti ho una con la le un e si del i da se mi fare ci lo loro noi voi lui lei mia miei tuo tua suo sua nostro nostra adesso sempre mai ha hanno faccio può posso voglio vuoi vado andiamo essere era stato dove chi quale molto molti tutto tutti tutte niente qualcosa bene meglio peggio nuovo nuova giorno anni vita gente quando però quindi ancora già
pt:não uma você com como mais em os meu minha isso esse essa muito são do da fazer pra tudo que para por no na de o e um se dos seu sua vou vai vamos vocês ele ela eles elas nós nosso nossa aqui agora sempre nunca tem têm tenho faço faz pode posso quero ser estar estou estão era foi onde quem qual muita muitos todos todas nada alguém bem melhor pior novo nova dia anos vida gente porque até entre contra aquilo já também só será
nl:het een van niet zijn ik jij dat maar voor naar ook wat deze bij wij heb hoe waarom en de die is met te op in je we er aan als nog uit wel weer hoor gaan gaat mogen mij jouw jou jullie ons onze allemaal zo toch echt gewoon nieuwe nieuw beste goed heel veel meer minder altijd nooit hier daar toen omdat maken maakt doen doet kan kun kunnen moet moeten wil willen zou worden wordt werd geen iets niks iemand mensen jaar keer vandaag morgen zelf zelfde eerste laatste tegen tussen zonder achter binnen leuk mooi lekker lijkt ziet eruit dit zin
da:og er ikke jeg du vi har til med på det som af hvad hvor hvorfor hvordan kan skal min din vores være om men så fra mere også dig mig noget hvis nu et alle eller blive meget hvem dette bare gør danmark den der for i en ud ind efter af dem jeres os når hun hende deres mange få fået får går gå giver tager tage kommer komme ville kunne skulle havde haft været blev bliver blevet siger sige tror mener synes helt godt bedre bedst større første sidste nye ny gamle hver hvert ingen intet altid aldrig hjem op ned mellem uden gennem siden fordi derfor selv selvom tak husk børn mennesker år sammen kun ja nej at
no:og er ikke jeg du vi har til med på det som av hva hvor hvorfor hvordan kan skal min din være om men så fra mer også deg meg noe hvis nå et alle eller bli mye hvem dette bare gjør den for i en ut inn etter dere oss enn når hun henne deres våre mange få fått får går gå gir tar kommer komme ville kunne skulle hadde vært ble blir sier tror mener synes helt godt bedre større første siste nye ny gamle hver ingen alltid aldri hjem opp ned mellom uten gjennom siden fordi derfor selv selvom takk husk mennesker år sammen kun ja nei at
sv:och är inte jag du vi har till med på det som av vad var varför hur kan ska min din vara om men så från mer också dig mig något nu ett alla eller bli mycket vem detta bara gör den för att i en när hon henne honom deras våra många få fått får går gå ger tar kommer komma ville kunde skulle hade varit blev blir säger säga tror tycker helt bra bättre bäst större första sista nya ny gamla varje ingen allt alltid aldrig här där hem upp ner över mellan utan genom sedan därför själv tack människor år tillsammans någon ja nej
fi:ja ei että mutta minä sinä olen kun niin myös ovat tämä on se hän mitä miten miksi ole voi nyt vain
pl:nie się jest jak na że dla czy ale tylko tak po co mnie już bardzo to w z do i o jej moje
tr:ve bir bu için çok ne değil ile gibi daha ama benim nasıl kadar mi de da en var yok
id:yang dan ini itu untuk tidak dengan aku kamu ada bisa dari saya banget jangan di ke
vi:và của không là có cho một người được này với trong khi mình
cs:je jsem není jsou jsme tento když na se to že jak ale si
ro:și este care nu pentru sunt mai această la cu de în un o ce
hu:és hogy nem egy az ez mint csak a de van meg`
