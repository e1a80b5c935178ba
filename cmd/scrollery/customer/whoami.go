package customer

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// identity is the answer of whoami. Members that the key may not read are left out.
type identity struct {
	Server string   `json:"server"`
	KeyIn  string   `json:"keyIn"`
	KeyID  string   `json:"keyId,omitempty"`
	Hint   string   `json:"hint,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
	Status string   `json:"status,omitempty"`
}

func (p *program) whoami() *cobra.Command {
	return p.command(spec{
		use: "whoami", short: "Show the server, the key and the subscription that commands use", answer: anyAnswer,
		long:    "Shows where the key comes from, its id and scopes as far as it may read them, and the state of the subscription.",
		example: "  scrollery whoami\n  scrollery whoami --jq .scopes",
		run: func(c *call, _ []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			who := identity{Server: client.Server, KeyIn: client.Place}
			usage, err := ask[*pb.GetUsageResponse](c.ctx, client, &pb.GetUsageRequest{})
			if err != nil && refusal(err).GetError() != "forbidden" {
				return err
			}
			who.Status = usage.GetStatus()
			if key, err := currentKey(c, client); err != nil {
				return err
			} else if key != nil {
				who.KeyID, who.Hint, who.Scopes = key.GetId(), key.GetHint(), key.GetScopes()
			}
			if c.format.Programs() {
				text, err := json.Marshal(who)
				if err != nil {
					return err
				}
				return c.out.Value(c.ctx, c.format, text)
			}
			hint := ""
			if who.Hint != "" {
				hint = "…" + who.Hint
			}
			return c.out.Pairs("server", who.Server, "key in", who.KeyIn, "key", hint, "key id", who.KeyID,
				"scopes", strings.Join(who.Scopes, " "), "subscription", who.Status)
		},
	})
}

// currentKey finds the key of the call; nil if it may not list keys.
func currentKey(c *call, client *client) (*pb.Key, error) {
	size, token := int32(100), ""
	for range 100 {
		request := &pb.ListKeysRequest{PageSize: &size}
		if token != "" {
			request.PageToken = &token
		}
		page, err := ask[*pb.ListKeysResponse](c.ctx, client, request)
		if refusal(err).GetError() == "forbidden" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, key := range page.GetKeys() {
			if key.GetCurrent() {
				return key, nil
			}
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	return nil, nil
}
