package rules

import (
	"slices"
	"strings"
)

// mode is how a clause is meant.
type mode int

const (
	plain  mode = iota // no verb: "under 60 seconds"
	want               // "find …", "show me …"
	soft               // "prefer …"
	must               // "only …"
	never              // "skip …"
	except             // "… except …"
	unless             // "… unless …"
	flip               // "not", "without": what it means depends on what it follows
	stray              // what cannot be judged from a record: "rank by …"
)

// lead is a phrase that says how what follows is meant.
type lead struct {
	words []string
	mode  mode
	// start holds verbs to the start of a clause: elsewhere they are content.
	start bool
}

// leads gives the leads by their first word, the longest first.
func leads() map[string][]lead {
	var all []lead
	add := func(m mode, start bool, phrases string) {
		for _, phrase := range strings.Split(phrases, ",") {
			all = append(all, lead{strings.Fields(phrase), m, start})
		}
	}
	add(must, false, `only, exclusively, nothing but, nothing except, nothing other than, solely, strictly, none but, must, must be, must have, should, should be, should have,
		has to, have to, has to be, needs to, need to, needs to be, need to be, ought to, limit to, needs, need, requires, limited to, limit it to, limit results to, restrict to, restricted to,
		stick to, is required, are required, no one but`)
	add(must, true, `require, requires, limit, restrict, i only want, we only want, keep it, keep them, keep everything, just, keep only, keep it to, keep to, insist on`)
	add(never, false, `must not, mustn't, must never, should not, shouldn't, should never, cannot, can't, can not, may not, but no, no, nothing, none, never, nobody,
		don't include, do not include, don't show, do not show, don't want, do not want, don't want to see, do not want to see, don't need, do not need, don't use, do not use,
		don't collect, do not collect, don't add, do not add, don't keep, do not keep, don't save, do not save, don't archive, don't give me, don't bring, do not bring,
		don't like, do not like, don't care about, do not care about, don't care for, not interested in, no longer interested in, no longer want, not looking for, no more, stay away from, stay clear of, steer clear of,
		leave out, leaving out, filter out, filtering out, keep out, throw out, throw away, get rid of, weed out, anything but, anything except, everything but, everything except,
		all but, excluding, exclude, avoid, avoiding, ignoring, skipping`)
	add(never, true, `skip, skip over, skip any, ignore, drop, remove, hide, block, omit, reject, discard, mute, ban, bin, cut, eliminate, blacklist, blocklist, delete, pass on, screen out, rule out, sort out`)
	add(want, true, `find, find me, show, show me, look for, looking for, search for, search, get, get me, give me, bring me, i want, we want, i want to see, we want to see, i'd like, we'd like,
		i would like, we would like, collect, gather, want, pick, choose, select, take, use, fetch, scroll for, watch for, interested in, i am interested in, i'm interested in, we are interested in, we're interested in, i need, we need`)
	add(soft, true, `prefer, preferably, prefer to see, we prefer, i prefer, prioritise, prioritize, priority to, give priority to, favour, favor, focus on, focus mostly on, focus mainly on, concentrate on, ideally, boost, include, also include, keep,
		add, emphasise, emphasize, especially, i like, we like, i love, we love, more, more of, mostly, mainly, rank higher, highlight, lean towards, lean toward, pay attention to, keep an eye on, track, follow`)
	add(except, false, `except, except for, except from, except when, except if, except those, apart from, aside from, other than, with the exception of, but not, save for`)
	add(unless, false, `unless, unless it, unless they`)
	add(flip, false, `not, without, isn't, aren't, is not, are not, don't, doesn't, do not, does not, wasn't, weren't, lacking, missing, non, nor, don't have, doesn't have, do not have, does not have, won't, hasn't, haven't, which don't, that don't`)
	add(stray, true, `rank, sort, order, make sure, remember, treat, try, watch out, be careful, tell me, summarise, summarize, explain, analyse, analyze, compare, describe, report, note`)
	slices.SortStableFunc(all, func(a, b lead) int { return len(b.words) - len(a.words) })
	byWord := map[string][]lead{}
	for _, one := range all {
		byWord[one.words[0]] = append(byWord[one.words[0]], one)
	}
	return byWord
}

// welcomes are ends of a clause that allow what stands before them, which no
// check can do.
func welcomes() map[string][][]string {
	return phrases([]string{"fine", "ok", "okay", "allowed", "welcome", "acceptable", "fine too", "ok too", "okay too", "no problem", "not a problem", "also fine", "also ok"})
}

// tails are ends of a clause that forbid what stands before them.
func tails() map[string][][]string {
	all := []string{
		"off limits", "not allowed", "not welcome", "not wanted", "not ok", "not okay", "not relevant", "not of interest", "not interesting", "not needed",
		"banned", "forbidden", "unwanted", "excluded", "prohibited", "a no go", "no go", "taboo", "out of scope", "not in scope", "don't count", "do not count", "not for us", "unwelcome",
	}
	for _, verb := range strings.Fields("skipped ignored excluded removed dropped hidden avoided omitted rejected discarded blocked banned") {
		all = append(all, "should be "+verb, "must be "+verb, "can be "+verb, "are to be "+verb, "is to be "+verb, "need to be "+verb, "have to be "+verb, "get "+verb)
	}
	for _, verb := range []string{"left out", "filtered out", "thrown out"} {
		all = append(all, "should be "+verb, "must be "+verb, "can be "+verb)
	}
	return phrases(all)
}

// phrases gives phrases by their first word, the longest first.
func phrases(all []string) map[string][][]string {
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	byWord := map[string][][]string{}
	for _, phrase := range all {
		words := strings.Fields(phrase)
		byWord[words[0]] = append(byWord[words[0]], words)
	}
	return byWord
}
