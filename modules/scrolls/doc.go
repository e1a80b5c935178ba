// Package scrolls is the room of research runs.
//
// A scroll is one run for a workspace. It is queued, goes through its stages and
// ends with videos in the library:
//
//	queued ─→ running ─→ completed | failed | cancelled
//	   └────────────────────────────→ cancelled
//
//	plan → collect → observe → screen → evidence → archive → score
//
// The row of a scroll is the truth about it, and the queue only says when to look.
// Each start raises the row's attempt, which every later commit has to match; so a
// worker that was given up for lost cannot write any more, however long it lives.
// What a stage found is committed together with the checkpoint that lets the next
// start skip it. Videos under way lie in scroll_records and are gone at the end.
//
// The room keeps scrolls, their records and recurrences. It never looks into a
// video, never fetches anything, and never writes a row of the library itself.
package scrolls
