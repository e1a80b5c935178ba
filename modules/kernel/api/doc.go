// Package api serves every operation over REST, Connect, gRPC and gRPC-Web from
// one definition.
//
// Every operation is an rpc of package scrollery.v1 with one method option of our
// own: operation id, HTTP method and path, who may call it, its scope, its price.
// The package reads that table from the linked descriptors, and one line mounts an
// operation on every protocol:
//
//	api.Unary(mux, "SetWorkspace", rpc.SetWorkspace)
//
// A request passes the same steps over every protocol, in this order:
//
//	route → key → rate → scope, tier → subscription → budget → input → operation
//
// and records one usage event before its answer is released. The package owns the
// table, admission, decoding, encoding and the form of errors. It never reads a
// table of the database and imports no module: an Admitter identifies the holder
// of a key, and a Recorder stores the events.
package api
