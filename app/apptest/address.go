package apptest

import (
	"errors"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// FreeAddress returns a free loopback address. On Linux its host is one of the other
// loopback addresses, chosen at random: a port of 127.0.0.1 that is free now may belong
// to another test's connection before a server of this test listens on it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	host := net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254))).String()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if errors.Is(err, syscall.EADDRNOTAVAIL) { // other systems have one loopback address
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// ScratchPostgres returns the address of a migrated, empty PostgreSQL database that is
// dropped after the test; it skips the test if there is no server.
func ScratchPostgres(t testing.TB) string {
	t.Helper()
	return storetest.PostgresConfig(t).DatabaseURL
}

// EmptyPostgres is ScratchPostgres for a database that was never migrated.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return storetest.EmptyPostgresConfig(t).DatabaseURL
}
