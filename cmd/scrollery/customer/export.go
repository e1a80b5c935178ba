package customer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	exportFile = "scrollery-export.zip"
	// exportTries is how often a download that breaks begins again.
	exportTries = 5
)

func (p *program) export() *cobra.Command {
	return p.command(spec{
		use: "export [FILE]", short: "Download everything of the account as one zip",
		long: "Downloads everything of the account into a zip, " + exportFile + " without an argument. A download that breaks\n" +
			"begins again, unless it goes to stdout (`-`).",
		example: "  scrollery export\n  scrollery export backup.zip\n  scrollery export - | ssh backup 'cat > export.zip'",
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrongUse("%s takes one file", cmd.CommandPath())
			}
			return nil
		},
		run: func(c *call, args []string) error {
			name := exportFile
			if len(args) == 1 {
				name = args[0]
			}
			if name == "-" && c.out.Terminal {
				return wrongUse("a zip is not for a terminal")
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			if name == "-" {
				return download(c.ctx, client, c.out.Out)
			}
			if _, err := os.Lstat(name); err == nil {
				return fmt.Errorf("%s exists already", name)
			}
			if err := c.exportTo(client, name); err != nil {
				return err
			}
			return c.out.Say("%s", name)
		},
	})
}

// exportTo downloads into a file beside name, which gets the name once it is whole.
func (c *call) exportTo(client *client, name string) error {
	whole, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(whole.Name()) //nolint:errcheck // it has its name by then
	if err := errors.Join(c.fetch(client, whole), whole.Close()); err != nil {
		return err
	}
	return os.Link(whole.Name(), name) // never over a file of another
}

// fetch downloads the export, and begins again if the stream breaks.
func (c *call) fetch(client *client, file *os.File) error {
	for tries := 0; ; tries++ {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := file.Truncate(0); err != nil {
			return err
		}
		err := patient(c.ctx, func() error { return download(c.ctx, client, file) })
		if err == nil || !broken(err) || tries == exportTries || c.ctx.Err() != nil {
			return err
		}
		c.note("the download broke and begins again")
		if stopped := pause(c.ctx, min(retryFirst<<tries, retryMost)); stopped != nil {
			return err
		}
	}
}

func download(ctx context.Context, client *client, out io.Writer) error {
	return receive(ctx, client, &pb.ExportAccountRequest{}, func(got *pb.ExportAccountResponse) error {
		_, err := out.Write(got.GetChunk())
		return err
	})
}
