package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// client calls the service like any client: plain HTTP and JSON.
type client struct {
	base string
	key  string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: strings.TrimRight(base, "/"), http: &http.Client{Timeout: 30 * time.Second}}
}

// call sends a JSON request and decodes the answer into out. It waits and calls again
// while it is told to, for a few seconds at a time.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	for {
		wait, err := c.try(ctx, method, path, body, out)
		if wait == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// maxWait is the longest wait that call accepts.
const maxWait = 5 * time.Second

// try makes one call. wait is above 0 if it was refused for its rate.
func (c *client) try(ctx context.Context, method, path string, body, out any) (wait time.Duration, err error) {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		payload = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return 0, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	if err != nil {
		return 0, err
	}
	if seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")); response.StatusCode == http.StatusTooManyRequests && seconds > 0 {
		if wait = time.Duration(seconds) * time.Second; wait <= maxWait {
			return wait, nil
		}
	}
	if response.StatusCode >= 300 {
		return 0, fmt.Errorf("%s %s answered %d: %s", method, path, response.StatusCode, bytes.TrimSpace(text))
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return 0, nil
}

// pay fills in the test checkout's form.
func (c *client) pay(ctx context.Context, checkout, email string) error {
	form := url.Values{"email": {email}, "action": {"pay"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, checkout, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		return fmt.Errorf("checkout answered %s", response.Status)
	}
	return nil
}

type video struct {
	ID       string `json:"id"`
	Platform string `json:"platform"`
	Source   *struct {
		Handle string `json:"handle"`
	} `json:"source"`
	Metadata struct {
		Caption string `json:"caption"`
	} `json:"metadata"`
	Metrics struct {
		Views *float64 `json:"views"`
	} `json:"metrics"`
}

func (v video) handle() string {
	if v.Source == nil {
		return "?"
	}
	return v.Source.Handle
}

type scroll struct {
	ID       string  `json:"id"`
	Status   string  `json:"status"`
	Stage    *string `json:"stage"`
	Progress struct {
		Percent    float64 `json:"percent"`
		Reobserved int     `json:"reobserved"`
		Dropped    int     `json:"dropped"`
	} `json:"progress"`
	ResultCounts struct {
		Videos int `json:"videos"`
	} `json:"resultCounts"`
	FailureCode *string `json:"failureCode"`
}

type hook struct {
	Video        video   `json:"video"`
	Spoken       *string `json:"spoken"`
	OnScreenText *string `json:"onScreenText"`
}

type outlier struct {
	Video         video    `json:"video"`
	Score         float64  `json:"score"`
	BaselineViews *float64 `json:"baselineViews"`
	SampleCount   int      `json:"sampleCount"`
}

type trend struct {
	Label   string `json:"label"`
	Metrics struct {
		VideoCount   int     `json:"videoCount"`
		MedianGrowth float64 `json:"medianGrowthMultiple"`
	} `json:"metrics"`
}
