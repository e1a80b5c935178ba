// Package demo runs the whole journey of a subscriber over HTTP: subscribe,
// pay in the test checkout, claim the key, write the brief and the rules, run
// three scrolls, and read hooks, outliers and trends. It uses only the
// address of the service, so that any client gets the same answers.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Journey is one demonstration: its input and its output.
type Journey struct {
	// BaseURL of a running service in test checkout.
	BaseURL string
	// Email is the address for the checkout.
	Email string
	// Description, Competitors and Rules are the brief.
	Description string
	Competitors []string
	Rules       string
	// Scrolls to run; trends need at least two.
	Scrolls int
	// Out takes the tables, Progress the progress bars.
	Out, Progress io.Writer
	// Pause is the time between two reads of a running scroll; 0 means 50 ms.
	Pause time.Duration
}

// Run runs the journey and returns the key that it claimed. It fails if a step fails,
// or if a list that must have entries is empty.
func (j Journey) Run(ctx context.Context) (key string, err error) {
	c := newClient(j.BaseURL)
	steps := []struct {
		name string
		do   func(context.Context, *client) error
	}{
		{"Subscribe, pay and claim the key", j.subscribe},
		{"Write the brief", j.brief},
		{"Write the rules", j.rules},
		{"Scroll", j.scrolls},
		{"Hooks: what the first seconds show, say and print", j.hooks},
		{"Outliers: videos far above their creator's baseline", j.outliers},
		{"Trends: what grew from run to run", j.trends},
	}
	for i, step := range steps {
		fmt.Fprintf(j.Out, "\n%d. %s\n", i+1, step.name)
		if err := step.do(ctx, c); err != nil {
			return "", fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return c.key, nil
}

func (j Journey) subscribe(ctx context.Context, c *client) error {
	var checkout struct{ URL, ClaimToken string }
	if err := c.call(ctx, "POST", "/v1/subscribe", map[string]any{"billingInterval": "monthly", "plan": "pro"}, &checkout); err != nil {
		return err
	}
	fmt.Fprintf(j.Out, "   checkout: %s (a test: no money moves)\n", checkout.URL)
	if err := c.pay(ctx, checkout.URL, j.Email); err != nil {
		return err
	}
	var claim struct{ Status, APIKey, AccountID string }
	if err := c.call(ctx, "POST", "/v1/subscribe/claim", map[string]any{"claimToken": checkout.ClaimToken}, &claim); err != nil {
		return err
	}
	if claim.Status != "completed" {
		return fmt.Errorf("the claim is %s", claim.Status)
	}
	c.key = claim.APIKey
	fmt.Fprintf(j.Out, "   account:  %s\n   key:      %s…\n", claim.AccountID, claim.APIKey[:min(13, len(claim.APIKey))])
	return nil
}

func (j Journey) brief(ctx context.Context, c *client) error {
	var answer struct {
		Outcome   string
		Workspace struct{ ID string }
	}
	body := map[string]any{"description": j.Description, "competitors": j.Competitors}
	if err := c.call(ctx, "POST", "/v1/workspace", body, &answer); err != nil {
		return err
	}
	fmt.Fprintf(j.Out, "   workspace %s %s\n", answer.Workspace.ID, answer.Outcome)
	return nil
}

func (j Journey) rules(ctx context.Context, c *client) error {
	var put struct {
		Rules struct{ Version int }
	}
	if err := c.call(ctx, "PUT", "/v1/rules", map[string]any{"text": j.Rules}, &put); err != nil {
		return err
	}
	var got struct{ Items []struct{ Text string } }
	if err := c.call(ctx, "GET", "/v1/rules", nil, &got); err != nil {
		return err
	}
	fmt.Fprintf(j.Out, "   version %d, %d rules:\n", put.Rules.Version, len(got.Items))
	for _, item := range got.Items {
		fmt.Fprintf(j.Out, "   - %s\n", item.Text)
	}
	return nil
}

func (j Journey) scrolls(ctx context.Context, c *client) error {
	for run := 1; run <= j.Scrolls; run++ {
		var started struct{ Scroll scroll }
		if err := c.call(ctx, "POST", "/v1/scrolls", map[string]any{}, &started); err != nil {
			return err
		}
		ended, err := j.follow(ctx, c, run, started.Scroll.ID)
		if err != nil {
			return err
		}
		if ended.Status != "completed" {
			code := "no failure code"
			if ended.FailureCode != nil {
				code = *ended.FailureCode
			}
			return fmt.Errorf("scroll %s is %s (%s)", ended.ID, ended.Status, code)
		}
		fmt.Fprintf(j.Out, "   run %d: %d new videos, %d seen again, %d dropped by the rules\n",
			run, ended.ResultCounts.Videos, ended.Progress.Reobserved, ended.Progress.Dropped)
	}
	return nil
}

// follow shows a progress bar until the scroll has ended.
func (j Journey) follow(ctx context.Context, c *client, run int, id string) (scroll, error) {
	pause := j.Pause
	if pause == 0 {
		pause = 200 * time.Millisecond // half of an account's rate
	}
	defer fmt.Fprint(j.Progress, "\r\033[K")
	for {
		var answer struct{ Scroll *scroll }
		if err := c.call(ctx, "GET", "/v1/scrolls?id="+id, nil, &answer); err != nil {
			return scroll{}, err
		}
		if answer.Scroll == nil {
			return scroll{}, fmt.Errorf("scroll %s is not found", id)
		}
		bar(j.Progress, run, *answer.Scroll)
		switch answer.Scroll.Status {
		case "completed", "failed", "cancelled":
			return *answer.Scroll, nil
		}
		select {
		case <-ctx.Done():
			return scroll{}, ctx.Err()
		case <-time.After(pause):
		}
	}
}

var errEmpty = errors.New("the list is empty")

func (j Journey) hooks(ctx context.Context, c *client) error {
	var answer struct{ Hooks []hook }
	if err := c.call(ctx, "GET", "/v1/hooks?limit=8", nil, &answer); err != nil {
		return err
	}
	rows := make([][]string, 0, len(answer.Hooks))
	for _, h := range answer.Hooks {
		rows = append(rows, []string{h.Video.Platform, h.Video.handle(), text(h.Spoken), text(h.OnScreenText)})
	}
	return j.table([]string{"platform", "creator", "spoken", "on screen"}, rows)
}

func (j Journey) outliers(ctx context.Context, c *client) error {
	var answer struct{ Outliers []outlier }
	if err := c.call(ctx, "GET", "/v1/outliers?limit=8", nil, &answer); err != nil {
		return err
	}
	rows := make([][]string, 0, len(answer.Outliers))
	for _, o := range answer.Outliers {
		rows = append(rows, []string{
			fmt.Sprintf("%.1f×", o.Score), number(o.Video.Metrics.Views), number(o.BaselineViews),
			fmt.Sprint(o.SampleCount), o.Video.handle(), o.Video.Metadata.Caption,
		})
	}
	return j.table([]string{"score", "views", "baseline", "peers", "creator", "caption"}, rows)
}

func (j Journey) trends(ctx context.Context, c *client) error {
	var answer struct {
		Status           string
		CompletedScrolls int
		Trends           []trend
	}
	if err := c.call(ctx, "GET", "/v1/trends?limit=8", nil, &answer); err != nil {
		return err
	}
	fmt.Fprintf(j.Out, "   %s after %d completed scrolls\n", answer.Status, answer.CompletedScrolls)
	rows := make([][]string, 0, len(answer.Trends))
	for _, t := range answer.Trends {
		rows = append(rows, []string{t.Label, fmt.Sprintf("%.2f×", t.Metrics.MedianGrowth), fmt.Sprint(t.Metrics.VideoCount)})
	}
	return j.table([]string{"trend", "median growth", "videos"}, rows)
}

// Fill creates a key's library: brief, rules and scrolls. If enough scrolls have
// completed, it changes nothing. A brief and rules that a user has written stay: it adds
// no scrolls to another brief than its own, and no rules if there are any.
func (j Journey) Fill(ctx context.Context, key string) error {
	c := newClient(j.BaseURL)
	c.key = key
	var trends struct{ CompletedScrolls int }
	if err := c.call(ctx, "GET", "/v1/trends?limit=1", nil, &trends); err != nil {
		return err
	}
	if trends.CompletedScrolls >= j.Scrolls {
		return nil
	}
	j.Scrolls -= trends.CompletedScrolls
	var set struct {
		Workspace *struct {
			Description          string
			Website, AppStoreURL *string
			RulesVersion         int
		}
	}
	if err := c.call(ctx, "GET", "/v1/workspace", nil, &set); err != nil {
		return err
	}
	steps := []func(context.Context, *client) error{j.brief, j.rules, j.scrolls}
	if now := set.Workspace; now != nil {
		if now.Description != j.Description || now.Website != nil || now.AppStoreURL != nil {
			return nil
		}
		if steps = steps[1:]; now.RulesVersion > 0 {
			steps = steps[1:]
		}
	}
	for _, step := range steps {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
