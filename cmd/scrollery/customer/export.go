package customer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/archive"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	exportFile = "scrollery-export.zip"
	// exportTries is how often a stream may break without a new file having come.
	exportTries = 5
)

func (p *program) export() *cobra.Command {
	return p.command(spec{
		use: "export [FILE]", short: "Download everything of the account as one zip",
		long: "Downloads everything of the account into a zip, " + exportFile + " without an argument. A download that breaks is\n" +
			"continued; after an interruption the same command goes on with FILE.part-… where it was. `-` writes to stdout, and\n" +
			"cannot be continued.",
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
				return download(c.ctx, client, "", c.out.Out)
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

// exportTo downloads into a file of its own, which belongs to this server and key, and
// puts the zip together from it.
func (c *call) exportTo(client *client, name string) error {
	of := sha256.Sum256([]byte(client.Server + "\n" + client.Key))
	part := name + ".part-" + hex.EncodeToString(of[:4])
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := c.fetch(client, file); err != nil {
		return fmt.Errorf("%w; what has come is in %s, and the same command continues from there", err, part)
	}
	whole, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(whole.Name()) //nolint:errcheck // it has its name by then
	if err := errors.Join(archive.Finish(file, whole), whole.Close()); err != nil {
		return err
	}
	if err := os.Link(whole.Name(), name); err != nil { // never over a file of another
		return err
	}
	return os.Remove(part)
}

// fetch downloads until the export is complete, and continues where a stream breaks.
func (c *call) fetch(client *client, file *os.File) error {
	last := "-"
	for tries := 0; ; tries++ {
		from, err := archive.Resume(file)
		if err != nil {
			return err
		}
		if from != last {
			last, tries = from, 0
		}
		if from != "" {
			c.note("continuing with %s", from)
		}
		err = patient(c.ctx, func() error { return download(c.ctx, client, from, file) })
		if err == nil || !broken(err) || tries == exportTries || c.ctx.Err() != nil {
			return err
		}
		if stopped := pause(c.ctx, min(retryFirst<<tries, retryMost)); stopped != nil {
			return err
		}
	}
}

func download(ctx context.Context, client *client, from string, out io.Writer) error {
	request := &pb.ExportAccountRequest{}
	if from != "" {
		request.From = &from
	}
	return receive(ctx, client, request, func(got *pb.ExportAccountResponse) error {
		_, err := out.Write(got.GetChunk())
		return err
	})
}
