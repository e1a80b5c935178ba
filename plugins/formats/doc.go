// Package formats reads videos out of the files that people have of them.
//
// A format is one form in which a collecting program or an API writes down a
// video. The members of an object alone decide what form it is in, object by object,
// so a file may mix them and its name says nothing. All text is strangers': it is
// copied, never followed.
//
//	file ── lines, documents ── object ── format ── record
//	     └─ rows ── column map ────────────────────┘
//
// Whatever cannot be read is counted with a reason, and what follows it is read on.
package formats
