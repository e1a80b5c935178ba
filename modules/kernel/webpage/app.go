package webpage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// app reads the description of an app from Apple's public lookup.
func (r *Reader) app(ctx context.Context, id string) (title, text string, err error) {
	target, err := url.Parse(r.config.LookupURL)
	if err != nil {
		return "", "", err
	}
	query := target.Query()
	query.Set("id", id)
	query.Set("entity", "software")
	target.RawQuery = query.Encode()
	answer, err := r.get(ctx, target.String(), "application/json, text/javascript")
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	var found struct {
		Results []struct {
			Name        string   `json:"trackName"`
			Description string   `json:"description"`
			Genres      []string `json:"genres"`
		} `json:"results"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, r.config.MaxBytes)).Decode(&found); err != nil {
		return "", "", fmt.Errorf("its answer cannot be read: %w", err)
	}
	if len(found.Results) == 0 || found.Results[0].Name == "" {
		return "", "", ErrNoApp
	}
	app := found.Results[0]
	var genres, about passage
	genres.add(strings.Join(app.Genres, ", "))
	about.add(app.Description)
	return cut(app.Name, maxTitle), cut(genres.String()+"\n"+about.String(), maxText), nil
}
