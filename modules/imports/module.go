// Package imports is the module of files that customers bring.
//
// An import goes through these states:
//
//	queued ─→ reading ─→ running ─→ completed ─→ undoing ─→ undone
//	             └──────────┴─────→ failed ────────┘
//
// The upload is stored in parts, in rows, so that any worker can read it and a killed one
// loses nothing. A process of its own reads the file; what it finds is sorted into runs, one
// for each day of observation and each further reading of a video on that day, and stored in
// parts again, in place of the file. Each run is then a scroll of the template `import`,
// queued when the one before it has ended: screens, evidence, archive and scores are the
// module scrolls', with its places, heartbeats and resumption. A reading that the library
// has is not added twice, so that a run that is begun again changes nothing.
//
// The row is the truth about an import; a job only says when to look at it. Charging, the
// report and the first run are one transaction, so that an import is paid once. The module
// never interprets a file and never writes a row of the library.
package imports

import (
	"go.uber.org/fx"
)

// Module provides the service, the operations and the work for the queue. The app provides
// Config and Needs.
var Module = fx.Module("imports", fx.Provide(
	NewReadings,
	New,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	newRunner,
	fx.Annotate((*runner).workers, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*runner).periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))
