package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestMain(m *testing.M) {
	for _, spec := range []stage.Spec{filmSource(), runsSource(), tongueStage(), earScreen()} {
		if filepath.Base(os.Args[0]) == spec.ID {
			stage.Main(spec)
			return
		}
	}
	if len(os.Args) == 3 && os.Args[2] == toll {
		host.Dispatch(os.Args, []stage.Spec{tollSource()})
	}
	if os.Getenv(asServer) != "" {
		app.RunPlugin(os.Args)
		serve()
		return
	}
	apptest.Main(m)
}
