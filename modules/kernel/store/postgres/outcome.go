package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// askFor bounds the time in which a server is asked what came of a commit; askEvery
	// is the time between two questions.
	askFor   = 10 * time.Second
	askEvery = 50 * time.Millisecond
)

// Outcome returns the error of a commit that failed with err. It asks the server where
// the answer was lost and the transaction is known by its number.
func (s *Server) Outcome(ctx context.Context, number string, err error) error {
	if number == "" || !Lost(err) {
		return fmt.Errorf("commit: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
	defer cancel()
	for {
		var status sql.NullString
		asked := s.Pool.QueryRow(ctx, "SELECT pg_xact_status(CAST(CAST($1 AS text) AS xid8))", number).Scan(&status)
		switch {
		case asked == nil && status.String == "committed":
			return nil
		case asked == nil && status.String == "aborted":
			return apierr.Busy(fmt.Errorf("commit: %w", err))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", apierr.ErrUnknown, errors.Join(err, asked))
		case <-time.After(askEvery):
		}
	}
}

// Unable reports whether the server refused for want of room, memory or connections, or
// because its system failed.
func Unable(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && (strings.HasPrefix(fault.Code, "53") || strings.HasPrefix(fault.Code, "58"))
}

// Lost reports whether err means that a database server was lost or cannot be reached,
// and not that it refused.
func Lost(err error) bool {
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return fault.Code[:2] == "57" && fault.Code != "57014" || fault.Code[:2] == "08" // it shuts down, or starts
	}
	var elsewhere *url.Error // of a request by HTTP
	if err == nil || errors.As(err, &elsewhere) {
		return false
	}
	var away *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &away) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, apierr.ErrUnknown) || pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}
