package app_test

import (
	"testing"

	"github.com/scrollery/scrollery/app/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
