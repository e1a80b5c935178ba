package customer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// signIn are the flags of login.
type signIn struct {
	server, key string
	inFile      bool
	session     time.Duration
	scopes      string
	subscribe   bool
	order       subscription
}

func (p *program) login() *cobra.Command {
	var order signIn
	command := p.command(spec{
		use:   "login [--server URL] [--key -]",
		short: "Store the key for a server",
		long: "Asks for a key, tries it, and stores it: in the keyring of the system, or else in a file that only you can\n" +
			"read. A key is never an argument, since other users of the machine can see those.\n" +
			"SCROLLERY_KEY and SCROLLERY_SERVER come before what is stored.\n\n" +
			"With --session the key is exchanged for a session key, and only that is stored; `logout` ends it.",
		example: "  scrollery login --server https://scrollery.example.com\n" +
			"  pass show scrollery | scrollery login --key -\n" +
			"  scrollery login --session 8h --scopes library:read,scrolls:read\n" +
			"  scrollery login --subscribe --plan pro",
		run: func(c *call, _ []string) error { return c.signIn(order) },
	})
	flags := command.Flags()
	flags.StringVar(&order.server, "server", "", "`URL` of the server (default: SCROLLERY_SERVER, the last one, or "+login.DefaultServer+")")
	flags.StringVar(&order.key, "key", "", "`-` reads the key from stdin instead of asking for it")
	flags.BoolVar(&order.inFile, "in-file", false, "store the key in a file also where there is a keyring")
	flags.DurationVar(&order.session, "session", 0, "store a session key that ends after this time, up to 24h")
	flags.StringVar(&order.scopes, "scopes", "", "scopes of the session key, separated by commas (default: those of the key)")
	flags.BoolVar(&order.subscribe, "subscribe", false, "subscribe, pay in the browser, and store the new key")
	order.order.flags(command)
	return command
}

func (c *call) signIn(order signIn) error {
	switch {
	case order.key != "" && order.key != "-":
		return wrongUse("--key takes `-` alone, and reads the key from stdin: other users can see arguments")
	case order.subscribe && (order.key != "" || order.session != 0):
		return wrongUse("--subscribe gets a new key, and goes with neither --key nor --session")
	case order.scopes != "" && order.session == 0:
		return wrongUse("--scopes are those of a --session key")
	case order.session < 0 || order.session > 24*time.Hour || order.session > 0 && order.session < time.Second:
		return wrongUse("--session %v is not between 1s and 24h", order.session)
	}
	s, err := c.signing(order.server, order.inFile)
	if err != nil {
		return err
	}
	if order.subscribe {
		return s.buy(order.order)
	}
	key, err := c.askKey(order.key == "-")
	if err != nil {
		return err
	}
	found := login.Login{Server: s.server, Key: key}
	if err := try(c.ctx, newClient(found)); err != nil {
		return err
	}
	if order.session > 0 {
		if found, err = sessionOf(c.ctx, found, order.scopes, order.session); err != nil {
			return err
		}
	}
	return s.keep(found)
}

// signing signs in to a server: it gets a key there, and keeps it.
type signing struct {
	call   *call
	store  *login.Store
	server string
	inFile bool
}

// signing is for the server of a flag, or for the last one.
func (c *call) signing(flag string, inFile bool) (*signing, error) {
	store, err := c.Store()
	if err != nil {
		return nil, err
	}
	if flag != "" {
		server, err := login.Origin(flag)
		if err != nil {
			return nil, wrongUse("--server: %w", err)
		}
		return &signing{c, store, server, inFile}, nil
	}
	current, err := store.Current()
	if err != nil && !errors.Is(err, login.ErrNone) {
		return nil, err
	}
	return &signing{c, store, current.Server, inFile}, nil
}

// keep stores a login and says where.
func (s *signing) keep(l login.Login) error {
	place, err := s.store.Save(l, s.inFile)
	if err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	s.call.note("Signed in to %s. The key is in the %s.", l.Server, place)
	for _, name := range []string{login.KeyVariable, login.ServerVariable} {
		if text, ok := s.call.Lookup(name); ok && text != "" {
			s.call.note("%s is set, and comes before it.", name)
		}
	}
	return nil
}

// try calls with a key that may have any scopes.
func try(ctx context.Context, client *client) error {
	_, err := ask[*pb.GetUsageResponse](ctx, client, &pb.GetUsageRequest{})
	if refusal(err).GetError() == "forbidden" { // the key is known, and has other scopes
		return nil
	}
	return err
}

func sessionOf(ctx context.Context, parent login.Login, scopes string, ttl time.Duration) (login.Login, error) {
	seconds := int32(ttl / time.Second)
	session, err := ask[*pb.CreateSessionKeyResponse](ctx, newClient(parent), &pb.CreateSessionKeyRequest{Scopes: words(scopes), TtlSeconds: &seconds})
	if err != nil {
		return login.Login{}, err
	}
	return login.Login{Server: parent.Server, Key: session.GetApiKey(), KeyID: session.GetKeyId()}, nil
}

// words are texts separated by commas or spaces.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// askKey reads the key from stdin, or asks for it without showing it.
func (c *call) askKey(piped bool) (string, error) {
	const most = 1000
	in := c.cmd.InOrStdin()
	terminal, ok := in.(*os.File)
	ok = ok && show.IsTerminal(in)
	var text string
	var err error
	switch {
	case piped:
		text, err = bufio.NewReaderSize(in, most).ReadString('\n')
		if text != "" {
			err = nil // the last line may lack its end
		}
	case ok:
		fmt.Fprint(c.cmd.ErrOrStderr(), "Key: ")
		text, err = Hidden(c.ctx, terminal)
		fmt.Fprintln(c.cmd.ErrOrStderr())
	default:
		return "", wrongUse("stdin is no terminal: use `--key -` to read the key from it")
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if text = strings.TrimSpace(text); text == "" || len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", wrongUse("that is no key: it begins with scr_ and has letters and digits")
	}
	return text, nil
}

// Hidden reads a line that the terminal does not show. The terminal is as before also
// when the context ends.
func Hidden(ctx context.Context, terminal *os.File) (string, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type answer struct {
		text []byte
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		typed <- answer{text, err}
	}()
	select {
	case got := <-typed:
		return string(got.text), got.err
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), term.Restore(fd, before))
	}
}

func (p *program) logout() *cobra.Command {
	return p.command(spec{
		use:   "logout",
		short: "Delete the stored key",
		long: "Deletes the key from the keyring or the file. A session key that `login --session` created is revoked too;\n" +
			"other keys stay valid: `key revoke` ends them.",
		example: "  scrollery logout",
		run: func(c *call, _ []string) error {
			store, err := c.Store()
			if err != nil {
				return err
			}
			stored, err := store.Stored()
			if err != nil && !errors.Is(err, login.ErrNone) {
				return err
			}
			var failed error
			if stored.Key != "" && stored.KeyID != "" {
				_, failed = ask[*pb.RevokeKeyResponse](c.ctx, newClient(stored), &pb.RevokeKeyRequest{Id: &stored.KeyID})
				if failed != nil {
					if code, _ := explained(failed); code == ExitSignIn {
						failed = nil // it has ended already
					}
				}
			}
			if err := store.Remove(); err != nil {
				return err
			}
			if failed != nil {
				return fmt.Errorf("the stored key is deleted, but was not revoked: %w", failed)
			}
			if stored.Key == "" {
				c.note("No key was stored.")
				return nil
			}
			c.note("Signed out of %s.", stored.Server)
			return nil
		},
	})
}
