package apptest

import (
	"net"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// FreeAddress returns a free loopback address.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// ScratchPostgres returns the address of a migrated, empty PostgreSQL database that is
// dropped after the test; it skips the test where there is no server.
func ScratchPostgres(t testing.TB) string {
	t.Helper()
	return storetest.PostgresConfig(t).DatabaseURL
}

// EmptyPostgres is ScratchPostgres for a database that was never migrated.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return storetest.EmptyPostgresConfig(t).DatabaseURL
}
