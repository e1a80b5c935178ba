package stage

import "github.com/scrollery/scrollery/modules/record"

// What stages read and write; see modules/record for each field.
type (
	Ref      = record.Ref
	Record   = record.Record
	File     = record.File
	Source   = record.Source
	Metrics  = record.Metrics
	Evidence = record.Evidence
	Cue      = record.Cue
	Sticker  = record.Sticker
	Key      = record.Key
	Seed     = record.Seed
	Run      = record.Run
	Brief    = record.Brief
	Page     = record.Page
	Rule     = record.Rule
	Status   = record.Status
	Outcome  = record.Outcome
	Verdict  = record.Verdict
	Finding  = record.Finding
	Summary  = record.Summary
)

// How a seed fared, as coverage shows it.
const (
	OK          = record.OK
	Partial     = record.Partial
	Empty       = record.Empty
	Blocked     = record.Blocked
	OverQuota   = record.Quota
	Missing     = record.NotFound
	Unsupported = record.Unsupported
	Changed     = record.Changed
	BadlySetUp  = record.Misconfigured
)
