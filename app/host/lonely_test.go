package host_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// lonelyHost is a host of its own, to be killed: it prints its plugin's pid and waits.
func lonelyHost(scratch string) {
	if len(os.Args) > 3 {
		_ = os.Remove(os.Args[0]) // as an upgrade does
	}
	host, err := host.New(host.Config{Builtins: specs(), ScratchDir: scratch}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, err = host.Collect(context.Background(), "probe", stage.Run{}, []stage.Seed{{Term: "wait"}}, func(batch []stage.Record) error {
		fmt.Println(string(batch[0].Metadata))
		return nil
	})
	fmt.Println(err)
	time.Sleep(time.Hour)
}

// lonelyFetcher is one that is killed while it fetches media.
func lonelyFetcher(scratch string) {
	host, err := host.New(host.Config{Builtins: specs(), ScratchDir: scratch}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	folder, err := host.MediaFolder()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	refs := []stage.Ref{{Platform: "tiktok", ExternalID: "good=1"}, {Platform: "tiktok", ExternalID: "wait"}}
	_, err = folder.Fetch(context.Background(), "fetcher", stage.Run{}, refs, func(f stage.File) error {
		raw, err := os.ReadFile(f.Name)
		fmt.Println(string(raw))
		return err
	})
	fmt.Println(err)
	time.Sleep(time.Hour)
}
