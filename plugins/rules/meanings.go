package rules

import (
	"strings"
	"sync"
)

// meanings are what a subject is also called: in other languages that creators
// write, and in the tags that they use for it. Only subjects of everyday rules are
// here, and only words that hardly mean anything else; it is no dictionary.
var meanings = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(meaningLists) {
		names, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		words := strings.Split(strings.TrimSpace(list), ", ")
		for name := range strings.SplitSeq(names, ", ") {
			all[stems(name)] = words
		}
	}
	return all
})

// A line is the names of a subject in English, then what else it is called. Names
// are compared by their stems, so that one form of each is enough.
const meaningLists = `unboxing, unbox: unboxing, déballage, déballe, desempaquetado, desempaquetando, desembalando, auspacken, ausgepackt, uitpakken, udpakning, uppackning, spacchettamento, rozpakowanie, 開封, 开箱, 언박싱, распаковка
giveaway, contest, sweepstake, raffle: giveaway, sweepstakes, raffle, concours, jeu concours, sorteo, sorteio, gewinnspiel, verlosung, winactie, konkurrence, konkurranse, tävling, konkurs, çekiliş, розыгрыш, プレゼント企画
politics, political, politician, election: politics, political, politician, politic, politik, politiker, politisk, politiske, politikere, politikerne, politische, politique, politicien, política, político, politica, politico, politiek, polityka, politiikka, politiktok, parliament, parlament, parlement, parlamento, folketing, folketinget, riksdag, bundestag, minister, ministre, ministro, statsminister, prime minister, government, gouvernement, regering, regeringen, regierung, gobierno, governo, election, election day, élection, elecciones, eleições, elezioni, bundestagswahl, landtagswahl, kommunalwahl, wahlkampf, valgkamp, folketingsvalg, folketingsvalget, kommunalvalg, kommunalvalget, regionsrådsvalg, valgplakat, verkiezingen, wybory, dkpol, svpol, norskpol, uspol, ukpol, auspol, cdnpoli, nzpol
gaming, video game, videogame, gamer: gaming, gamer, video game, videogame, jeux vidéo, jeu vidéo, jeuxvidéo, jeuvidéo, videojuego, videospiel, videogioco, videojogo, videospil, tv-spel, game console, console portable, playstation, ps4, ps5, xbox, nintendo, steam deck, esport, e-sport, fortnite, minecraft, roblox, csgo, call of duty, league of legends, valorant, gta
recipe: recipe, recette, receta, receita, rezept, ricetta, opskrift, oppskrift, przepis, tarifi, рецепт, レシピ, 레시피
tutorial, how-to, how to: tutorial, how to, tuto, tutoriel, anleitung, handleiding, vejledning, туториал
news: news, breaking news, nyheder, nyheter, nieuws, nachrichten, noticias, notícias, actualités, actu, notizie, haberler, новости, ニュース, 뉴스
football, soccer: football, soccer, fútbol, futbol, futebol, fußball, fodbold, fotboll, fotball, voetbal, calcio, piłka nożna, футбол, サッカー, 축구
sale, discount, discount code, promo code, promo, coupon: discount, promo code, coupon, code promo, bon plan, bons plans, soldes, rabatt, rabattcode, rabat, rabatkode, korting, kortingscode, descuento, cupón, desconto, cupom, sconto, codice sconto, indirim, скидка
duet: duet, dueto, duett, duetto
prank: prank, broma, pegadinha, scherzo, streich
vlog, day in my life: vlog, day in my life, day in the life, mini vlog
workout, fitness: workout, fitness, gym, entrenamiento, entraînement, trainingsplan, treino, allenamento, træning, träning, trening
dance, dancing: dance, dancing, danse, baile, bailando, dança, tanz, tanzen, dansen, ballo
`
