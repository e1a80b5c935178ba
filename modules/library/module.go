// Package library stores the videos that scrolls gathered, and what follows from
// them: hooks, outliers and trends.
//
// Its parts import each other in one direction: package scoring and package lists read what
// package videos stores, package insight explains what package score defines.
//
// What a creator wrote is stored byte for byte and returned as data. It is never
// used as an address to fetch, a template, a query or an instruction. Annotations
// and archive flags belong to the caller: no scroll changes them.
//
// A Video's JSON is rendered when it changes and never when it is read: lists
// join ready text, a few ranges of one index each, whatever the size of the library.
package library

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Module provides the library's parts. The app provides Config and answers Workspace and Scrolls.
var Module = fx.Module("library", fx.Provide(
	New,
	removal.NewHoldings,
	func(l *Library) (*videos.Service, *lists.Service, *scoring.Service, *removal.Service) {
		return l.Videos, l.Lists, l.Scoring, l.Removal
	},
	fx.Annotate(func(l *Library) api.Operations { return l.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Library).Workers, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*Library).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))
