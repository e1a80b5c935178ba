// Package stage is what the author of a stage imports.
//
// A stage is a process of its own that transforms a stream. There are five kinds:
//
//	plan      seeds, and the workspace's brief    →  seeds, which replace the niche terms
//	source    seeds                               →  records, one outcome for each seed
//	screen    records, and the rules              →  one verdict for each record
//	evidence  records                             →  findings about the first seconds
//	brief     facts of a library                  →  sentences that cite them
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
// the host: settings and secrets that the Spec names come in the Call. It may read the
// files that its settings name, write only in Call.Scratch, and reach its Hosts only
// through [Call.HTTP]. The kernel enforces this where the system can.
//
// # A check of the connection
//
// A stage of any kind may have a Check: one cheap request that says whether settings,
// secrets and the connection work. `scrollery plugins try`, `scrollery doctor` and the
// accounts that set keys of their own run it before the first scroll.
//
// # Errors
//
// An error says whose fault it is: [Busyf], [Quotaf], [Refusedf], [NotFoundf] and
// [Misconfiguredf] are not the stage's own, and decide when the host tries again.
// Any other error, and a panic, is the stage's. The host keeps what was emitted before.
//
// # Data
//
// What creators wrote is data: never an address to fetch, a template or an
// instruction. What a platform did not give stays nil, since absent is not zero.
//
// # Tests
//
// The package stagetest runs a Spec on saved inputs without a process, and replays
// recorded HTTP. `scrollery plugins check` tries the built binary as the host
// would use it. A stage in another language speaks the protocol of
// proto/scrollery/stage/v1; the kit has packages for Python and TypeScript.
//
// # What authors do not need
//
// The functions whose names begin with Encode and Decode, the Clean methods with
// [Repairs], [CallError] and the constants of the handshake and of batches are for the
// host's end of the protocol.
package stage
