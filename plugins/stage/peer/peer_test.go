package peer

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
)

func TestOnlyTheHostAndItsPluginMeet(t *testing.T) {
	host, err := NewHost()
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewHost()
	if err != nil {
		t.Fatal(err)
	}
	offer := func(h *Host) (client, server *tls.Config) {
		client, env, err := h.Plugin()
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range env {
			name, value, _ := strings.Cut(one, "=")
			t.Setenv(name, value)
		}
		server, err = Provide()
		if err != nil || server == nil {
			t.Fatalf("the plugin's end: got %v, error %v; want a server", server, err)
		}
		if value, set := os.LookupEnv(pluginVariable); set {
			t.Errorf("the key is left in the environment: %d bytes, want not set", len(value))
		}
		return client, server
	}
	client, server := offer(host)
	strangeClient, strangeServer := offer(other)
	anonymous := client.Clone()
	anonymous.Certificates = nil
	for name, c := range map[string]struct {
		client, server *tls.Config
		meet           bool
	}{
		"the host and its plugin":   {client, server, true},
		"a host of another process": {strangeClient, server, false},
		"a plugin of another host":  {client, strangeServer, false},
		"a client without a key":    {anonymous, server, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := meet(c.client, c.server); (err == nil) != c.meet {
				t.Errorf("got error %v, want a connection: %v", err, c.meet)
			}
		})
	}
}

// meet connects both ends and sends a byte, since a client learns from reading that it
// was refused.
func meet(client, server *tls.Config) error {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		end := tls.Server(far, server)
		if end.Handshake() == nil {
			_, _ = end.Write([]byte{1})
		}
	}()
	end := tls.Client(near, client)
	if err := end.Handshake(); err != nil {
		return err
	}
	_, err := end.Read(make([]byte, 1))
	return err
}

func TestWithoutAnOfferThereIsNoConfiguration(t *testing.T) {
	t.Setenv(pluginVariable, "")
	if config, err := Provide(); config != nil || err != nil {
		t.Errorf("got %v, %v, want nil for go-plugin's own way", config, err)
	}
}
