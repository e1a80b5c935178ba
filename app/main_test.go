package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case films:
		stage.Main(filmSource())
		return
	case runsCounter:
		stage.Main(runsSource())
		return
	}
	if os.Getenv(asServer) != "" {
		app.RunPlugin(os.Args)
		serve()
		return
	}
	apptest.Main(m)
}
