package customer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (p *program) api() *cobra.Command {
	var typed, texts []string
	var input string
	command := p.command(spec{
		use: "api METHOD PATH [-F k=v]...", short: "Call any operation of the API", answer: anyAnswer,
		long: "Calls an operation over REST and prints its answer. With GET the fields are parameters, otherwise members of a JSON\n" +
			"body. -F takes true, false, null, numbers and JSON as they are, everything else as a text, and @FILE as the text of\n" +
			"a file; -f takes texts alone. k[]=v adds to a list. /openapi.json describes every operation.",
		example: "  scrollery api GET /v1/scrolls/verdicts -F dropped=true --jq '.verdicts[].reason'\n" +
			"  scrollery api POST /v1/library/archive -F videoId=vid_… -F archived=true\n" +
			"  echo '{\"videoId\":\"vid_…\",\"agentMetadata\":{\"angle\":\"price\"}}' | scrollery api POST /v1/library/annotate --input -",
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return wrongUse("%s takes a method and a path", cmd.CommandPath())
			}
			return nil
		},
		run: func(c *call, args []string) error {
			body, err := c.members(typed, texts)
			if err != nil {
				return err
			}
			request, err := c.rest(args[0], args[1], body, input)
			if err != nil {
				return err
			}
			return c.send(request)
		},
	})
	flags := command.Flags()
	flags.StringArrayVarP(&typed, "field", "F", nil, "a parameter or member `K=V`, with its type")
	flags.StringArrayVarP(&texts, "raw-field", "f", nil, "a parameter or member `K=V` that is a text")
	flags.StringVar(&input, "input", "", "a `FILE` that is the body; - for stdin")
	return command
}

// members reads the fields.
func (c *call) members(typed, texts []string) (map[string]any, error) {
	all := map[string]any{}
	add := func(field string, read func(string) (any, error)) error {
		name, text, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return wrongUse("a field is K=V")
		}
		value, err := read(text)
		if err != nil {
			return err
		}
		if list, ok := strings.CutSuffix(name, "[]"); ok {
			before, _ := all[list].([]any)
			all[list] = append(before, value)
		} else {
			all[name] = value
		}
		return nil
	}
	for _, field := range typed {
		if err := add(field, c.typed); err != nil {
			return nil, err
		}
	}
	for _, field := range texts {
		if err := add(field, func(text string) (any, error) { return text, nil }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *call) typed(text string) (any, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return c.input(name)
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return text, nil
}

// rest is the request: to a path of the server, and to no other place.
func (c *call) rest(method, path string, members map[string]any, input string) (*http.Request, error) {
	address, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || address.Host != "" {
		return nil, wrongUse("a path begins with one /, as /v1/library")
	}
	method = strings.ToUpper(method)
	if input != "" && len(members) > 0 {
		return nil, wrongUse("--input goes without fields")
	}
	var body io.Reader
	switch {
	case input != "":
		text, err := c.input(input)
		if err != nil {
			return nil, err
		}
		body = strings.NewReader(text)
	case method == http.MethodGet || method == http.MethodHead:
		query := address.Query()
		for name, value := range members {
			query.Set(name, parameter(value))
		}
		address.RawQuery = query.Encode()
	default:
		text, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(c.ctx, method, address.String(), body)
	if err != nil {
		return nil, wrongUse("%w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

func parameter(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.RawMessage:
		var text string
		if json.Unmarshal(v, &text) == nil {
			return text
		}
		return string(v)
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = parameter(one)
		}
		return strings.Join(texts, ",")
	}
	return ""
}

// send calls, and prints JSON in the wanted form and everything else as it is.
func (c *call) send(request *http.Request) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	server, err := url.Parse(client.Server)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	late := time.AfterFunc(callTimeout, cancel)
	defer late.Stop()
	request = request.WithContext(ctx)
	request.URL.Scheme, request.URL.Host = server.Scheme, server.Host
	answer, err := client.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	isJSON := strings.Contains(answer.Header.Get("Content-Type"), "json")
	if answer.StatusCode < 300 && !isJSON {
		late.Stop() // a download takes its time
		if c.out.Terminal && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/") {
			return wrongUse("the answer is %s: send stdout to a file", answer.Header.Get("Content-Type"))
		}
		if c.out.Terminal {
			text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
			if err != nil {
				return err
			}
			return c.text(string(text))
		}
		_, err = io.Copy(c.out.Out, answer.Body)
		return err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return refused(answer.Status, text)
	}
	return c.out.Value(c.ctx, c.format, text)
}
