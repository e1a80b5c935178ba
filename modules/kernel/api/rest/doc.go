// Package rest is the JSON of requests and answers, as REST and agents have it.
//
// A Shape is a message type prepared for it: the fields in the order of their declaration,
// with the options that only REST uses. A Decoder fills a message from a query or a body,
// strictly, and lists every fault in its Issues. AppendMessage writes an answer. Free-form
// properties, which the proto file says nothing about, are bounded here for every protocol.
package rest
