package stage_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// A whole source: this is all that its author writes.
func Example() {
	stage.Main(stage.Spec{
		ID: "acme", Version: "1.0.0", Kind: stage.SourceKind,
		Platforms: []string{"acmetok"},
		Secrets:   []string{"token"},
		Hosts:     []string{"api.acme.example:443"},
		Collect:   collect,
	})
}

func collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	var outcomes []stage.Outcome
	for _, seed := range seeds {
		videos, err := ask(ctx, call, seed)
		if err != nil {
			return outcomes, err
		}
		for _, video := range videos {
			if err := emit(video); err != nil {
				return outcomes, err
			}
		}
		outcomes = append(outcomes, stage.Outcome{Seed: seed.Text(), Platform: "acmetok", Status: stage.OK, Returned: len(videos)})
	}
	return outcomes, nil
}

func ask(ctx context.Context, call *stage.Call, seed stage.Seed) ([]stage.Record, error) {
	address := "https://api.acme.example/v1/videos?of=" + url.QueryEscape(seed.Text())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+call.Secrets["token"])
	response, err := call.HTTP().Do(request)
	if err != nil {
		return nil, stage.Busyf(time.Minute, "acme: %v", err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return nil, stage.Refusedf("acme turns the token down")
	case http.StatusTooManyRequests:
		return nil, stage.Quotaf(time.Now().Add(time.Hour), "acme: too many requests")
	default:
		return nil, stage.Busyf(time.Minute, "acme answers %d", response.StatusCode)
	}
	var videos []stage.Record
	return videos, json.NewDecoder(response.Body).Decode(&videos)
}
