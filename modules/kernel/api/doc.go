// Package door is the API kernel: one definition, two doors.
//
// Every operation is an rpc of package scrollery.v1 that carries one option of
// our own: operation id, HTTP method and path, who may call it, its scope, its
// price. The kernel reads that table from the linked descriptors, and one line
// mounts an operation on REST and on Connect, gRPC and gRPC-Web alike:
//
//	door.Unary(mux, "SetWorkspace", rpc.SetWorkspace)
//
// A request passes the same steps on every door, in this order:
//
//	route → key → rate → scope, tier → subscription → budget → input → operation
//
// and leaves one usage event behind, written before its answer is released. The
// kernel knows no room and no table: who holds a key is told by an Admitter, and
// events go to a Recorder.
package api
