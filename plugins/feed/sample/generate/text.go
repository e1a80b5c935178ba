package main

// creator is an invented creator; the handles end in `.example`, which no
// platform and no person has.
type creator struct {
	handle, platform, kind string
	videos                 int
	views                  float64
}

var creators = []creator{
	{"kettleandfern.example", "tiktok", "own", 7, 5200},
	{"brewfox.example", "tiktok", "", 9, 14000},
	{"mokamagpie.example", "tiktok", "", 8, 8200},
	{"grinderella.example", "tiktok", "", 9, 21000},
	{"tampergoose.example", "tiktok", "", 7, 3100},
	{"slowbarsally.example", "tiktok", "", 8, 11500},
	{"beanotter.example", "tiktok", "", 6, 1900},
	{"pourovercomet.example", "youtube", "", 9, 36000},
	{"cremalab.example", "youtube", "", 9, 52000},
	{"twogramsofhope.example", "youtube", "", 8, 9400},
	{"thirdwavewombat.example", "youtube", "", 7, 17500},
	{"filterfinch.example", "youtube", "", 3, 4300},
	{"lattelynx.example", "instagram", "", 9, 12800},
	{"coldbrewcrane.example", "instagram", "", 8, 6700},
	{"puckprepclub.example", "instagram", "", 8, 15200},
	{"espressoheron.example", "instagram", "", 5, 2600},
}

// topic is what some videos are about. Growth is how much its videos gain from
// one run to the next; the rising ones become trends.
type topic struct {
	tags     []string
	growth   float64
	captions []string
	spoken   []string
	screen   []string
	visual   []string
}

var topics = []topic{
	{
		[]string{"moka", "mokapot"},
		4.1,
		[]string{"Your moka pot is not broken, your heat is", "Three moka pot fixes in under a minute", "Moka pot on low heat, every time"},
		[]string{"Stop putting your moka pot on full heat. Here is what happens to the coffee when you do.", "You have been filling your moka pot wrong, and I can taste it from here.", "Three moka pot mistakes, and the second one costs you the whole cup."},
		[]string{"3 moka pot mistakes", "Low heat. Always.", "Moka pot: before / after"},
		[]string{"A moka pot sputters over a high flame", "Two moka pots side by side, one bubbling over"},
	},
	{
		[]string{"slowbar", "slowbarchallenge"},
		5.6,
		[]string{"Slow bar challenge, day {n}", "One cup, one hour: the slow bar challenge", "My slow bar at home takes {n} steps"},
		[]string{"Day {n} of the slow bar challenge, and I am not allowed to touch a button.", "POV: you have one hour and one cup to make.", "What if your coffee took an hour? That is the slow bar challenge."},
		[]string{"Slow bar challenge: day {n}", "No buttons allowed", "POV: one hour, one cup"},
		[]string{"Hands grind beans with a stone mortar", "A timer starts at one hour beside an empty cup"},
	},
	{
		[]string{"espresso", "puckprep"},
		1.3,
		[]string{"Puck prep in {n} seconds flat", "Channeling? Check these {n} things first", "Espresso at home without the mess"},
		[]string{"If your espresso sprays everywhere, it is not the machine. Look at the puck.", "How to stop channeling with a tool you already own.", "I pulled {n} shots so you do not have to."},
		[]string{"Channeling? Try this", "{n} shots later", "Puck prep, no gadgets"},
		[]string{"A bottomless portafilter sprays onto the counter", "Close-up of a needle stirring ground coffee"},
	},
	{
		[]string{"pourover", "filtercoffee"},
		1.15,
		[]string{"One pour or five? I tasted both", "The easiest pour over recipe I know", "Pour over ratio for one mug: 15 to 250"},
		[]string{"One pour or five? I honestly could not tell, until it cooled down.", "Here is the easiest pour over recipe I know. Fifteen in, two fifty out.", "Nobody tells beginners this about pour over: the kettle hardly matters."},
		[]string{"15 g in, 250 g out", "1 pour vs 5 pours", "You do not need that kettle"},
		[]string{"Two drippers drain next to each other", "Water spirals into a paper filter from above"},
	},
	{
		[]string{"grinder", "handgrinder"},
		1.45,
		[]string{"Hand grinder after {n} months, honest review", "Cheap grinder, expensive cup?", "Burrs, explained with two spoons"},
		[]string{"I used this hand grinder every day for {n} months. Here is what broke.", "Before you buy a machine, buy a grinder. Let me show you why.", "Cheap grinder, expensive beans. Let us see who wins."},
		[]string{"{n} months later", "Grinder first, machine later", "What broke?"},
		[]string{"A hand grinder is taken apart on a towel", "Coffee grounds fall in slow motion"},
	},
	{
		[]string{"coldbrew", "icedcoffee"},
		2.7,
		[]string{"Cold brew without the fridge space", "Cold brew in a jam jar", "Iced coffee ratio that survives melting"},
		[]string{"You only need a jam jar and patience. This is cold brew for small kitchens.", "The secret to iced coffee is freezing the right thing, and it is not water.", "How to make cold brew overnight in {n} steps."},
		[]string{"Jam jar cold brew", "Freeze THIS instead", "Overnight, {n} steps"},
		[]string{"A jam jar of coffee is shaken and set down", "Coffee ice cubes drop into milk"},
	},
	{
		[]string{"latteart", "milk"},
		1.2,
		[]string{"Latte art when you only have a hand frother", "My first swan after {n} days", "Milk texture is a sound, listen"},
		[]string{"Listen to this. That sound means your milk is ready.", "Everyone shows you the pour. Nobody shows you the milk.", "Day one against day {n}. Same jug, same hands."},
		[]string{"Day 1 vs day {n}", "Listen to the milk", "No steam wand? Watch"},
		[]string{"Milk swirls in a steel jug with a glossy surface", "A wobbly heart is poured into a cup"},
	},
	{
		[]string{"beans", "roast"},
		1.1,
		[]string{"How old are your beans, really?", "Reading a bag of beans in {n} seconds", "Light roast tastes sour? Try this"},
		[]string{"Turn the bag around. If there is no date, put it back.", "Light roast is not sour. Your water is too cold.", "Why do the same beans taste different on Monday?"},
		[]string{"No date? Put it back", "Light roast is NOT sour", "Same beans, different day"},
		[]string{"A hand turns a bag of beans around to show the back", "Two heaps of beans, one pale and one oily"},
	},
}

// odd is a video that the sample rules drop, and why.
type odd struct {
	creator, caption, why string
	tags                  []string
	days, seconds         float64
	views                 int64
}

var odds = []odd{
	{"brewfox.example", "GIVEAWAY: win my old kettle, follow and tag two friends", "giveaway", []string{"giveaway", "coffee"}, 20, 24, 41000},
	{"lattelynx.example", "This frother saved my mornings", "#ad", []string{"ad", "latteart"}, 31, 33, 18000},
	{"cremalab.example", "Rebuilding a lever machine from scratch, the full version", "longer than 3 minutes", []string{"espresso", "restoration"}, 44, 412, 230000},
	{"beanotter.example", "Testing my microphone, please ignore", "fewer than 500 views", []string{"coffee"}, 9, 8, 112},
	{"coldbrewcrane.example", "Cómo hacer café frío en casa sin máquina, la receta que más me gusta para el verano", "not English", []string{"coldbrew", "cafe"}, 52, 29, 9800},
	{"twogramsofhope.example", "The V60 video that started this channel", "older than 12 months", []string{"pourover"}, 612, 58, 74000},
}

var sounds = []struct{ id, title string }{
	{"sample-sound-1", "Kettle Waltz (invented)"},
	{"sample-sound-2", "Slow Drip (invented)"},
	{"sample-sound-3", "Morning Tamper (invented)"},
	{"sample-sound-4", "original sound (invented)"},
}
