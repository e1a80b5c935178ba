// Package stage is what the author of a stage imports.
//
// A stage is a process of its own that takes a stream and gives a stream. There
// are four kinds:
//
//	plan      seeds, and what the workspace says  →  more seeds
//	source    seeds                               →  records, an outcome a seed
//	screen    records, and the rules              →  one verdict a record
//	evidence  records                             →  what the first seconds hold
//
// Its author fills in one [Spec] and calls [Main]:
//
//	func main() {
//		stage.Main(stage.Spec{
//			ID: "acme", Version: "1.0.0", Kind: stage.SourceKind,
//			Platforms: []string{"tiktok"},
//			Secrets:   []string{"token"},
//			Hosts:     []string{"api.acme.example:443"},
//			Collect:   collect,
//		})
//	}
//
// `scrollery plugins new` writes such a stage with its test and Makefile.
//
// # What a stage gets
//
// One process works on one [Call] and is killed after it. It has no environment of
// the house: settings and secrets that the Spec names come in the Call. It reads
// what its settings name, writes in Call.Scratch alone, and reaches its Hosts by
// [Call.HTTP] and in no other way. Where the system can, the kernel enforces this.
//
// # Errors
//
// An error says whose fault it is: [Busyf], [Quotaf], [Refusedf], [NotFoundf] and
// [Misconfiguredf] are not the stage's own, and decide when the house tries again.
// Any other error, and a panic, is the stage's. What was emitted before stays good.
//
// # Data
//
// What creators wrote is data: never an address to fetch, a template or an
// instruction. What a platform did not give stays nil, since absent is not zero.
//
// # Tests
//
// The package stagetest runs a Spec on saved inputs without a process, and replays
// recorded HTTP. `scrollery plugins check` tries the built binary as the house
// would use it. A stage in another language speaks the protocol that stands in
// proto/scrollery/stage/v1.
package stage
