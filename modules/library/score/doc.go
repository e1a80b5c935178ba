// Package score holds the definitions of outliers, trends and hooks: which videos of a
// library did better than usual, which keys spread, and what counts as the same opening.
//
// It has no database, no clock and no configuration but a growth [Table]. Scoring,
// explaining and backtesting call the same functions, so that a score and its
// explanation cannot differ. All arithmetic is in whole numbers, so that both databases
// and every machine have the same digits: views up to 2^53 are exact, products that pass
// 63 bits are 128 bits wide, and a [Decimal] is rounded once, at the end.
//
// # Outliers
//
// A video's views mean something only beside what the same creator's videos usually have
// at the same age. For the target and each peer the [Table] says what share s of its
// 7-day views a video has at its age, in thousandths. A peer's expected views are
//
//	views × s(target) ÷ s(peer), rounded down, at least 1
//
// and with 3 or more peers of the creator (the 30 nearest in posting time)
//
//	baseline = median of the expected views      score = views ÷ baseline
//
// Growth is corrected because without it no video of the last days can be an outlier, and
// those are the ones worth seeing. Peers of less than half the target's share are left
// out: their final views are more guess than reading. A median, not a mean, because a
// single success would hide the next one. See [Creator.Score].
//
// With fewer peers the baseline is the newest 200 of the [Kind], from by any creator,
// but never below what the creator's one or two videos had: see [Niche].
//
// Lists sort by the order value (n × views ÷ max(baseline, 100) + 2) ÷ (n + 2) with n
// peers of the creator, which trusts 4 × on 30 peers more than 50 × on none; videos
// whose views look bought come last. See [Compare].
//
// # Trends
//
// Of the videos that scrolls saw in the last two spans W (a week, up to 16 where scrolls
// are rare), a key's c creators in the newer span are compared with the number e that its
// p creators of the older span let one expect:
//
//	e = p × C ÷ P      strength = c² ÷ (e + 3)
//
// C and P are all creators of the two halves, so that a larger scroll makes no trend.
// Creators are counted, not videos, because one creator can post a key thirty times. See
// [Span], [Window] and [Window.Rank].
//
// # Hooks
//
// [Opening] is what the same sentence has in common however it was written down,
// [SortHooks] gives one creator's repeated opening one place, and [Patterns] are those
// that need no language.
//
// # Backtest
//
// [Backtest] and [Uptake] count how often what was flagged proved true later, with the
// base rate beside it.
package score
