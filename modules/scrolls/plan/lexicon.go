package plan

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// lexicon holds the words of the languages of a text that the keyword method needs.
type lexicon struct {
	// common words have no topic.
	common map[string]bool
	// A word of forbids begins what is excluded, one of wants what is wanted, and one
	// of only what alone is wanted.
	forbids, wants, only map[string]bool
	// joins connect two words of one term: fins de semana.
	joins map[string]bool
	// nounsAreCapital: as in German, where words in lower case have no topic.
	nounsAreCapital bool
	// elides: as in French, where l'apéro is apéro.
	elides bool
}

// language lists the words of one language, separated by spaces.
type language struct{ common, forbids, wants, only, joins string }

// learn sets the lexicon to the language of a text, which is the one with the most
// known words, and to English, in which rules are written everywhere.
func (l *lexicon) learn(text string) {
	counts := map[string]int{}
	all := languages()
	for _, t := range tokens(text) {
		for name, words := range all {
			if words.common[t.lower] || words.joins[t.lower] || words.forbids[t.lower] || words.wants[t.lower] {
				counts[name]++
			}
		}
	}
	best := "en"
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > counts[best] {
			best = name
		}
	}
	*l = lexicon{common: map[string]bool{}, forbids: map[string]bool{}, wants: map[string]bool{}, only: map[string]bool{}}
	for _, name := range []string{best, "en"} {
		maps.Copy(l.common, all[name].common)
		maps.Copy(l.forbids, all[name].forbids)
		maps.Copy(l.wants, all[name].wants)
		maps.Copy(l.only, all[name].only)
	}
	l.joins, l.nounsAreCapital = all[best].joins, best == "de"
	l.elides = best == "fr" || best == "it"
}

// languages returns the lexicon of each language. It is read-only.
var languages = sync.OnceValue(func() map[string]lexicon {
	set := func(words string) map[string]bool {
		out := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			out[word] = true
		}
		return out
	}
	all := map[string]lexicon{}
	for name, words := range languageWords() {
		l := lexicon{
			common: set(words.common + " " + platformWords), forbids: set(words.forbids), wants: set(words.wants),
			only: set(words.only), joins: set(words.joins),
		}
		maps.Copy(l.wants, l.only)
		all[name] = l
	}
	return all
})

// platformWords occur in briefs and rulesets of every topic.
const platformWords = `tiktok youtube instagram reel reels shorts video videos videoer filmer app apps online website www http https com content clip clips post posts
hashtag hashtags caption captions viral trend trends trending`

func languageWords() map[string]language {
	return map[string]language{
		"en": {
			forbids: `no not never without except exclude excluding ignore skip avoid drop nothing none don't don’t dont hide remove reject neither nor unless`,
			wants:   `but prefer show find include instead rather`,
			only:    `only about must focus topic topics mention mentions`,
			common: `a above after again all also although always am among an and another any anyone anything are around as at back be because become been before behind
being below best better between big both brand brands bring brings build builds built but buy buys by came can care cares channel channels cheap clear
clearly close come comes company copy could create creates creator creators customer customers day days did different do does doing done down during
each early easily easy eight eleven else english enough ever every everyone everything explain explains fair fairly fast feature features few fewer
fill first fit five fix for four free fresh friend friends from full fun further general get gets give gives go goes good got great grow grows had has
have having he help helping helps her here hers high him his hold how however i if important in into is it its itself it's just keep keeping keeps
kind kinds know known knows large last late later learn learns least left less let lets like likes list lists little long longer look looking looks
lot lots love loved loves low made maker makers make makes making many match may me mean means meet minimum minute minutes maximum month months more
most much my near need needed needs new newer next now of off offer offers often old older on once one onto open or order original other our ours out
over own page pages part parts people per perfect person place places plain plan plans platform platforms play player players please popular posted
prepare prepares price prices private product products professional put puts quality quick quickly rank ready real really rest restore review reviews
right rule rules run runs same say says second seconds see seen sell selling sells send sends service services set several shall share shares she ship
ships shop short should side simple since site six small smart so some someone something soon spread start starts still stop store style such swap
take takes talk talks teach teaches team tell ten test than that the their theirs them then there these they thing things think this those three
through time times to today together told too top track tracks try turn turns two under until up update upload us use used useful user users uses
using very view views want wants was way we week weekly weeks well went were what when where whether which while who whole whom whose why will with
within woman word words work works world would write writes year years yet you young your yours hand house include save serve solve stay step support
sure visit wide win worth yes based monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays january february march april june july august september october november december german french italian portuguese dutch danish language
languages clients client`,
		},
		"de": {
			forbids: `kein keine keinen keiner keinem nicht nie niemals ohne außer nichts weder vermeide überspringe`,
			wants:   `aber sondern bevorzuge zeige lieber`,
			only:    `nur ausschließlich über thema themen`,
			common: `aber alle allem allen alles als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den denn der des dich die dies
diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es euch euer für gegen gibt hat hatte haben hier ich ihm ihn ihnen ihr ihre im
immer in ist ja jede jeder jedes jetzt kann können man mehr mein mit muss nach neu noch oder ob pro schon sehr sein seine seit sich sie sind so soll um und uns unser
unsere unter vom von vor wann warum was weil wenn wer werden wie wir wird wo wollen zu zum zur zwischen app fotos foto firma unternehmen kunden kunde produkt produkte marke
tage tag jahr jahre monat monate woche wochen minuten sekunden leute menschen welche welcher welches lernt geben machen macht`,
		},
		"fr": {
			forbids: `pas sans aucun aucune jamais ni sauf évite éviter ignore ignorer rien`,
			wants:   `mais préfère montre plutôt cherche`,
			only:    `uniquement seulement sur sujet thème`,
			joins:   `de du`,
			common: `a à afin ai ainsi alors après au aucun aussi autre autres aux avant avec avoir avons beaucoup bien c ça car ce cela ces cet cette ceux chaque
chez cherchent cherche comme comment d dans de depuis des deux dont du elle elles en encore entre est et être eux fabrique fabriquons fait faire font grand grande grands il ils j je jour jours l
la le les leur leurs lui ma mais me même mes moi moins mon n ne nos notre nous nouveau nouvelle on ont ou où par parce pas petit petite petits peu plus pour pourquoi proposons propose
qu quand que quel quelle qui quoi sa se ses si son sont sous sur ta te tes toi ton tous tout toute toutes très trois tu un une vers vos votre vous y est-ce
clients clientes client cliente entreprise marque produit produits vidéo vidéos contenu contenus minutes secondes vues offrons aimons c'est n'est j'ai d'un d'une qu'on`,
		},
		"es": {
			forbids: `no sin nunca nada ningún ninguna ni evita evitar excepto salvo`,
			wants:   `pero prefiere muestra sino busca`,
			only:    `solo sólo únicamente sobre tema temas`,
			joins:   `de del`,
			common: `a al algo algunos ante antes aquí así aunque bajo bien cada casi como cómo con contra cual cuando cuándo de del desde donde dos el él ella ellas ellos
en entre era eres es esa esas ese eso esos esta está están estas este esto estos fue gran grande grandes ha hace hacemos hacer han hasta hay la las le les lo los más me mi mis mucho
muchos muy nos nosotros nuestra nuestras nuestro nuestros o ofrece ofrecemos os otra otro otros para pequeño pequeña pequeños pequeñas personas pero poco por porque que qué quien quiere quieren
se ser si sí sin sobre solo son su sus también tan te tiene tienen toda todas todo todos tres tu tus un una uno unos usted vamos y ya yo organiza vende vendemos enseña
empresa marca producto productos clientes vídeo vídeos contenido contenidos minutos segundos vistas días año años`,
		},
		"it": {
			forbids: `non senza mai niente nessun nessuna né evita evitare tranne`,
			wants:   `ma preferisci mostra cerca`,
			only:    `solo soltanto unicamente su sul sulla argomento`,
			joins:   `di del della`,
			common: `a ad ai al alla alle allo anche ancora app avere bene breve brevi c che chi ci cinque come con cosa cui da dai dal dalla dalle del della delle dello di
dove due e è ed essere fa fare gli ha hanno i il in io l la le lei lo loro lui ma mi mia mio molto ne nei nel nella nelle noi non nostra nostre nostri nostro o ogni per perché
più poco poi qualche quando quanto quella quelle quelli quello questa queste questi questo qui se sempre si sia siamo solo sono su sua sue sui sul sulla suo suoi te ti tra tre tu tua tuo tutti
tutto un un'app una uno vi voi imparare minuti secondi giorno giorni anno anni azienda marchio prodotto prodotti clienti contenuto contenuti vendiamo vende offre offriamo aiuta`,
		},
		"pt": {
			forbids: `não sem nunca nada nenhum nenhuma nem evita evitar exceto`,
			wants:   `mas prefere mostra procura`,
			only:    `apenas só somente sobre tema temas`,
			joins:   `de do da`,
			common: `a ao aos aqui as até bem cada com como da das de dela dele deles depois do dois dos e é ela elas ele eles em entre era essa esse esta está estão este
eu foi fora há isso isto já lhe mais mas me mesmo meu minha muito muitos na não nas nem no nos nós nossa nossas nosso nossos num numa o os ou outra outro para pela pelas
pelo pelos pequeno pequena por porque quando que quem se sem ser seu seus só são sob sobre sua suas também tem temos têm ter toda todas todo todos três tu um uma umas uns vai você vocês
empresa marca produto produtos clientes vídeo vídeos conteúdo conteúdos minutos segundos visualizações dias ano anos vende vendemos oferece ensina ajuda`,
		},
		"nl": {
			forbids: `geen niet nooit zonder niets behalve vermijd`,
			wants:   `maar liever toon zoek`,
			only:    `alleen enkel over onderwerp`,
			common: `aan al alle alles als altijd ben bij daar dan dat de deze die dit doe doen door dus een en er ga gaan geeft haar had heb hebben heeft heel hem het hier hij
hoe hun ik in is ja jaar je jij jouw jullie kan komen kunnen laat maak maken me meer men met mij mijn moet na naar nieuwe nieuw nog nu of om omdat onder ons onze ook op oude over per
te tegen toch toen tot tussen uit van veel verkoopt verkopen voor waar waarom wanneer want was wat we weer wel welke werd wie wij wil worden wordt zal ze zeer zelf zich zij zijn zo zou
bedrijf merk product producten klanten video video's filmpjes minuten seconden dagen weken leert helpt`,
		},
		"da": {
			forbids: `ingen ikke aldrig uden intet undtagen undgå`,
			wants:   `men hellere vis find`,
			only:    `kun om emne emner`,
			common: `ad af alle alt altid andre at bare blev blive bliver både da de deres det dette dig din disse dit dog du efter egen eller en end er et for fordi fra få får
før gik giver går gøre har have havde her hos hun hvad hvem hver hvilke hvis hvor hvordan hvorfor i ikke ind ja jeg jer jeres kan kom kommer kunne lave laver lidt lige må man mange med meget
mellem mere mig min mit mod mål ned noget nogle nok nu når og også om op os over på sammen se selv ser sig sin sit skal skulle som sælger så to tre til ud under var ved vi viser vil ville vores
være været år bygger hjælper folk firma mærke produkt produkter kunder minutter sekunder dage dansk danske små store god gode`,
		},
	}
}
