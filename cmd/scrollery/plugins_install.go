package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host/archive"
	"github.com/scrollery/scrollery/app/host/kit"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

func pluginsPackage() *cobra.Command {
	var order archive.Order
	var key, lang string
	command := &cobra.Command{
		Use:   "package MANIFEST|FOLDER",
		Short: "Write a plugin into an archive that others install, and sign it",
		Long: "Writes an archive (tar.gz) for one platform: the manifest, pinned, the plugin that it names, their SHA-256, and what the plugin\n" +
			"says that it wants. For that it is started, confined as in a server. The same files make the same archive. With --sign, a\n" +
			"signature of minisign is written beside it; the password of the key is asked for, or read from stdin.",
		Example: "  scrollery plugins package acme -o acme.tar.gz --sign ~/.minisign/minisign.key\n" +
			"  GOOS=linux GOARCH=arm64 go build -o acme-arm64 . && scrollery plugins package . --binary acme-arm64",
		Args: oneArg("a manifest, or the folder of one"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if lang != "" { // as it was before archives
				return kit.WritePackage(lang, args[0])
			}
			order.Manifest = args[0]
			if key != "" {
				if order.Sign, err = archive.Signer(key, func() (string, error) { return password(cmd.Context(), "Password of "+key) }); err != nil {
					return err
				}
			}
			return app.PackagePlugin(cmd.Context(), order, os.Stdout)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&order.Out, "output", "o", "", "the `FILE` to write (default: ID_VERSION_OS_ARCH.tar.gz)")
	flags.StringVar(&order.Binary, "binary", "", "a `FILE` that is the same plugin for another platform; the one of the manifest must run here")
	flags.StringVar(&key, "sign", "", "sign with the private key of minisign in `FILE`")
	flags.StringVar(&lang, "lang", "", "")
	_ = flags.MarkHidden("lang") // plugins kit
	return command
}

func pluginsInstall() *cobra.Command {
	var order app.InstallOrder
	var yes bool
	command := &cobra.Command{
		Use:   "install FILE|ADDRESS",
		Short: "Install the plugin of an archive, after a look at what it may do",
		Long: "Checks an archive of `plugins package`, prints the hosts, files, programs and secrets that the plugin wants, and asks. Then it\n" +
			"checks the plugin as `plugins check` does, and puts it into the plugin folder in one step. An address must be https, and\n" +
			"public. A server that runs takes the plugin at SIGHUP. Of a plugin that is there already, the manifest stays: its settings,\n" +
			"and the secrets that it grants.",
		Example: "  scrollery plugins install acme.tar.gz\n  scrollery plugins install https://example.com/acme_1.2.0_linux_amd64.tar.gz --key acme.pub",
		Args:    oneArg("an archive"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			order.From, order.Agree = args[0], agree(yes)
			return app.InstallPlugin(cmd.Context(), cfg, order, os.Stdout)
		},
	}
	flags := command.Flags()
	flags.StringVar(&order.Key, "key", "", "a public `KEY` of minisign, or its file: refuse an archive that it did not sign")
	flags.BoolVar(&yes, "yes", false, "install without asking, older versions too")
	return command
}

func pluginsRemove() *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "remove ID",
		Short: "Delete a plugin and its manifest from the plugin folder",
		Args:  oneArg("the id of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return app.RemovePlugin(cfg, args[0], agree(yes), os.Stdout)
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "remove without asking")
	return command
}

func pluginsKit() *cobra.Command {
	var lang string
	command := &cobra.Command{
		Use:   "kit DIR",
		Short: "Write what the wheel or the npm tarball for authors of plugins is built from",
		Args:  oneArg("an empty or new folder"),
		RunE:  func(_ *cobra.Command, args []string) error { return kit.WritePackage(lang, args[0]) },
	}
	command.Flags().StringVar(&lang, "lang", "python", "python or ts")
	return command
}

// agree asks on the terminal, unless yes was said before. Without a terminal, no one can answer.
func agree(yes bool) func(string) (bool, error) {
	return func(question string) (bool, error) {
		if yes {
			fmt.Fprintln(os.Stderr, question+" Yes.")
			return true, nil
		}
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return false, fmt.Errorf("%w: stdin is no terminal to ask on: %s Add --yes", errUse, question)
		}
		fmt.Fprint(os.Stderr, question+" [y/N] ")
		answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && answer == "" {
			return false, fmt.Errorf("read the answer: %w", err)
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}

// password reads a password from the terminal, unseen, or from stdin if that is none.
func password(ctx context.Context, what string) (string, error) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		fmt.Fprint(os.Stderr, what+": ")
		text, err := customers.Hidden(ctx, os.Stdin)
		fmt.Fprintln(os.Stderr)
		return text, err
	}
	const most = 4096
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, most)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
