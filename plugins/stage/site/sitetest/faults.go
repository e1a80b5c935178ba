package sitetest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Always is a number of times that no test reaches.
const Always = 1 << 30

// Times lets a fault answer the first n requests, and says of each whether it did.
func Times(n int, fault http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	// A request that the client gave up may still be there when the next one comes.
	var asked atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		if asked.Add(1) > int64(n) {
			return false
		}
		fault(w, r)
		return true
	}
}

// Text answers with a status and a body.
func Text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// Hang never answers.
func Hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Drip sends a byte every 20 ms, without an end.
func Drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = w.Write([]byte(" "))
		w.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond)
	}
}

// CutShort announces 1000 bytes, sends a beginning and closes the connection.
func CutShort(beginning string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(beginning))
	}
}

// Huge sends 9 MiB, more than a source reads of an answer.
func Huge(w http.ResponseWriter, _ *http.Request) {
	for range 9 {
		_, _ = w.Write([]byte(strings.Repeat(" ", 1<<20)))
	}
}
