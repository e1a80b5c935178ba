// Package paging makes and reads the tokens of lists that go on from a number, such as an id.
package paging

import (
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

// prefix begins the tokens.
const prefix = "page"

// Start returns the number that the page of a token goes on from; 0 for the first page, whose token
// is empty. A token that Token did not make is an invalid `pageToken`.
func Start(token string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	number, ok := publicid.Parse(prefix, token)
	if !ok {
		return 0, apierr.Invalid("pageToken", "is not a value that this list returned")
	}
	return number, nil
}

// Token is the token of the page that goes on from a number.
func Token(number int64) string { return publicid.Format(prefix, number) }

// Cut returns the first size rows, and the token of the page behind them, which is empty at the end.
// Ask for one row more than size, so that there is an end.
func Cut[T any](rows []T, size int, number func(T) int64) (page []T, next string) {
	if len(rows) <= size {
		return rows, ""
	}
	return rows[:size], Token(number(rows[size-1]))
}
