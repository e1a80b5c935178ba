//go:build pins

// Package pins keeps modules in go.mod until their first import lands; this file goes with the last of them.
package pins

import (
	_ "ariga.io/atlas/sql/sqltool"
	_ "buf.build/go/protovalidate"
	_ "connectrpc.com/connect"
	_ "connectrpc.com/grpcreflect"
	_ "github.com/go-json-experiment/json/jsontext"
	_ "github.com/goccy/go-yaml"
	_ "github.com/hashicorp/go-hclog"
	_ "github.com/hashicorp/go-plugin"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/landlock-lsm/go-landlock/landlock"
	_ "github.com/maypok86/otter/v2"
	_ "github.com/pb33f/libopenapi-validator"
	_ "github.com/peterbourgon/ff/v4"
	_ "github.com/pressly/goose/v3"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/riverqueue/river"
	_ "github.com/riverqueue/river/riverdriver/riverpgxv5"
	_ "github.com/riverqueue/river/rivermigrate"
	_ "github.com/spf13/cobra"
	_ "github.com/stripe/stripe-go/v76"
	_ "go.opentelemetry.io/contrib/exporters/autoexport"
	_ "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	_ "go.uber.org/fx"
	_ "golang.org/x/net/http2"
	_ "golang.org/x/net/publicsuffix"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/text/unicode/norm"
	_ "google.golang.org/grpc"
	_ "modernc.org/sqlite"
)
