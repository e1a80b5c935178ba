package rules

// stopWords are words that say nothing about what a text is about.
const stopWords = `a about above across after again against all almost alone along already also although always am among an and another any anyone
anything are around as at away back be became because become been before behind being below best better between both but by came can cannot
come could day days did different do does doing done down each either else enough even ever every everyone everything few find first for from
full gave get gets give go goes going good got great had has have having he help her here hers him his how however i if in into is it its itself
just keep know known large last least less let like likely long look looking lot made make makes making many may me might mine more most much must
my need needs never new next no nobody none nor not nothing now of off often on once one only onto or other others our ours out over own part
people per perhaps please put quite rather really right said same say see seem seen several shall she should show side since so some someone
something sometimes soon still such take tell than that the their theirs them then there these they thing things think this those though three
through thus time times to today together too took toward two under until up upon us use used using very via video videos want wants was way we
well went were what when where whether which while who whole whom whose why will with within without work would year years yes yet you your yours
hook hooks opening strong content creator creators post posts clip clips sell sells company brand product products hold holds seconds line lines`
