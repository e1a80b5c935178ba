// Package scrolls is the module of research runs.
//
// A scroll is one run for a workspace. It is queued, performs its steps and ends with
// videos in the library:
//
//	queued ─→ running ─→ completed | failed | cancelled
//	   └────────────────────────────→ cancelled
//
//	plan → collect → observe → screen → evidence → archive → score
//
// Screens that look at evidence judge within the step evidence, after its stages.
//
// The row of a scroll is the truth about it, and the queue only says when to read it.
// Each start raises the row's attempt, which every later commit must match; so a
// worker that was assumed lost cannot write any more, however long it lives. The
// results of a step are committed together with the checkpoint that lets the next
// start skip it. Videos of a running scroll are rows of scroll_records, which are
// deleted at the end. What sources keep of seeds for their next run is in force once the
// videos are archived, in the same transaction, and never before.
//
// The module stores scrolls, their records, their verdicts, recurrences and the states of
// sources. It never
// interprets a video, never fetches anything, and never writes a row of the library.
package scrolls
