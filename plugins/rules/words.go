package rules

import (
	"strings"
	"sync"
)

// set makes a lookup of words that are written with spaces between them.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// english is the lexicon; nobody writes to it.
var english = sync.OnceValue(newLexicon)

// lexicon is the English that the compiler knows.
type lexicon struct {
	noise, place, judgement, stop map[string]bool
	platforms, languages          map[string]string
	metrics                       map[string]Field
	units                         map[string]unit
	numbers                       map[string]float64
	months                        map[string]int
	leads                         map[string][]lead
	tails, welcomes               map[string][][]string
}

type unit struct {
	field Field
	// seconds of a duration; name of an age.
	seconds float64
	name    string
}

func newLexicon() *lexicon {
	l := &lexicon{
		// noise says nothing about what a video must be.
		noise: set(`a an the any all every some this that these those which who whom whose it its they them their he she there
			short short-form video videos vid vids clip clips content post posts anything everything stuff thing things one ones material item items result results
			is are be being been was were am do does did has have having had get gets got getting
			about mention mentions mentioning mentioned contain contains containing contained include includes including included
			with word words phrase phrases term terms keyword keywords hashtag hashtags tag tags tagged topic topics theme themes subject subjects
			related relating relates to of on for featuring feature features featured talk talks talking discuss discusses discussing discussed
			regarding concerning cover covers covering show shows showing shown use uses using used say says saying
			i we me us our my you your i'm we're please also really very so too then kind kinds type types sort sorts like such as
			creator creators account accounts channel channels user users handle handles influencer influencers people
			platform platforms language languages speaking spoken caption captions captioned title titles text texts description descriptions
			posted uploaded published made created shared date dated age old length long duration count counts number
			if when where than will would want wants wanted see at least both either just only more other
			total per each made least being them during something someone anyone whatever minimum maximum want need needs needed
			here now again still yet even ever let let's make makes sure`),
		// place says where something is from, which a record does not tell.
		place: set(`from by in at based located near inside`),
		// judgement is a matter of taste, or not in the record.
		judgement: set(`quality top boring cringe cringy annoying good bad best worst better interesting uninteresting engaging original authentic
			inauthentic professional unprofessional amateur trendy viral popular unpopular recent old new fresh great nice cool ugly pretty beautiful
			low-effort effort lazy clickbait clickbaity misleading relevant irrelevant useful useless high low strong weak fake real funny
			inappropriate offensive spammy spam-like weird strange generic unique creative catchy fast slow-paced loud quiet small big large
			valuable helpful entertaining inspiring aesthetic cheap-looking blurry shaky properly correctly well successful credible trustworthy`),
		stop: set(stopWords),
		platforms: map[string]string{
			"tiktok": "tiktok", "tiktoks": "tiktok", "tik-tok": "tiktok", "youtube": "youtube", "yt": "youtube", "youtubes": "youtube",
			"instagram": "instagram", "ig": "instagram", "insta": "instagram", "instagrams": "instagram",
			"facebook": "facebook", "twitter": "twitter", "snapchat": "snapchat", "vimeo": "vimeo", "twitch": "twitch", "pinterest": "pinterest", "linkedin": "linkedin",
		},
		languages: map[string]string{
			"english": "en", "spanish": "es", "french": "fr", "german": "de", "italian": "it", "portuguese": "pt", "dutch": "nl",
			"danish": "da", "swedish": "sv", "norwegian": "no", "finnish": "fi", "polish": "pl", "turkish": "tr", "russian": "ru",
			"ukrainian": "uk", "japanese": "ja", "korean": "ko", "chinese": "zh", "mandarin": "zh", "arabic": "ar", "hebrew": "he",
			"hindi": "hi", "thai": "th", "greek": "el", "indonesian": "id", "vietnamese": "vi", "czech": "cs", "romanian": "ro", "hungarian": "hu",
		},
		metrics: map[string]Field{
			"view": Views, "views": Views, "play": Views, "plays": Views, "watches": Views, "viewcount": Views,
			"like": Likes, "likes": Likes, "hearts": Likes, "comment": Comments, "comments": Comments, "replies": Comments,
			"share": Shares, "shares": Shares, "reposts": Shares, "save": Saves, "saves": Saves, "bookmarks": Saves, "favourites": Saves, "favorites": Saves,
		},
		units: map[string]unit{}, numbers: map[string]float64{}, months: map[string]int{},
	}
	for i, name := range strings.Fields("january february march april may june july august september october november december") {
		l.months[name] = i + 1
		if name != "may" {
			l.months[name[:3]] = i + 1
		}
	}
	for i, name := range strings.Fields("zero one two three four five six seven eight nine ten eleven twelve") {
		l.numbers[name] = float64(i)
	}
	for name, value := range map[string]float64{
		"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45,
		"fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "half": 0.5, "couple": 2,
	} {
		l.numbers[name] = value
	}
	for names, u := range map[string]unit{
		"s sec secs second seconds": {Duration, 1, ""},
		"min mins minute minutes":   {Duration, 60, ""},
		"h hr hrs hour hours":       {Duration, 3600, "hours"},
		"d day days":                {Age, 0, "days"},
		"w wk wks week weeks":       {Age, 0, "weeks"},
		"mo mos month months":       {Age, 0, "months"},
		"y yr yrs year years":       {Age, 0, "years"},
	} {
		for name := range set(names) {
			l.units[name] = u
		}
	}
	l.leads = leads()
	l.tails, l.welcomes = tails(), welcomes()
	return l
}
