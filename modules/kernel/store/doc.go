// Package store opens the database, and is the only place where Ent's driver,
// the SQL drivers and the job queue meet.
//
// It answers on two databases with the same words: SQLite, one file in the data
// directory, and PostgreSQL. A change is one call of [DB.Write]: rows and the jobs
// that follow from them are committed together or not at all. Reads go through
// [DB.Ent], or through a [Statement] where the path is hot.
//
// The package keeps no table of its own but jobs, and knows nothing of what the
// modules store. It never runs ANALYZE or PRAGMA optimize: the SQLite build gathers
// histograms, and with those every prepared statement is prepared again at every
// call.
package store
