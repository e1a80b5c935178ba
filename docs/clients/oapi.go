//go:build ignore

// The journey over REST, with the types and the client of oapi-codegen.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"example.com/journey/api"
)

func main() {
	var at tour
	if err := json.Unmarshal([]byte(os.Args[1]), &at); err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(journey(context.Background(), at)); err != nil {
		log.Fatal(err)
	}
}

// tour and seen are the input and the output of every program of this folder, see tour.ts.
type tour struct {
	BaseURL     string   `json:"baseUrl"`
	Email       string   `json:"email"`
	Description string   `json:"description"`
	Competitors []string `json:"competitors"`
	Rules       string   `json:"rules"`
	Scrolls     int      `json:"scrolls"`
}

type seen struct {
	NewVideos        []int    `json:"newVideos"`
	Dropped          []int    `json:"dropped"`
	Hooks            []string `json:"hooks"`
	Outliers         []string `json:"outliers"`
	Trends           []string `json:"trends"`
	ArchivedIsListed bool     `json:"archivedIsListed"`
	Subscription     string   `json:"subscription"`
}

// need is the data of an answer; ends the program if the call was refused.
func need[T any](answer interface {
	GetJSON200() *T
	GetBody() []byte
}, err error,
) *T {
	if err != nil {
		log.Fatal(err)
	}
	if answer.GetJSON200() == nil {
		log.Fatalf("%s", answer.GetBody())
	}
	return answer.GetJSON200()
}

// pay fills in the form of the test checkout, as a person does in a browser.
func pay(checkout, email string) {
	answer, err := http.PostForm(checkout, url.Values{"email": {email}, "action": {"pay"}})
	if err == nil && answer.StatusCode >= 400 {
		err = errors.New("the checkout answered " + answer.Status)
	}
	if err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
}

func journey(ctx context.Context, at tour) (s seen) {
	open, err := api.NewClientWithResponses(at.BaseURL)
	if err != nil {
		log.Fatal(err)
	}
	plan := api.SubscribeRequestPlanPro
	checkout := need(open.SubscribeWithResponse(ctx, api.SubscribeRequest{BillingInterval: api.SubscribeRequestBillingIntervalMonthly, Plan: &plan}))
	pay(checkout.Url, at.Email)
	result, err := need(open.ClaimSubscriptionWithResponse(ctx, api.ClaimSubscriptionRequest{ClaimToken: checkout.ClaimToken})).ValueByDiscriminator()
	claim, paid := result.(api.ClaimSubscriptionCompleted)
	if !paid {
		log.Fatalf("not paid yet: %+v, %v", result, err)
	}

	client, err := api.NewClientWithResponses(at.BaseURL, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+claim.ApiKey)
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	need(client.SetWorkspaceWithResponse(ctx, api.SetWorkspaceRequest{Description: &at.Description, Competitors: &at.Competitors}))
	need(client.PutRulesWithResponse(ctx, api.PutRulesRequest{Text: at.Rules}))

	for run := range at.Scrolls {
		key := fmt.Sprintf("journey-%d", run)
		started, err := client.CreateScrollWithResponse(ctx, api.CreateScrollRequest{IdempotencyKey: &key})
		if err != nil {
			log.Fatal(err)
		}
		answer := cmp.Or(started.JSON202, started.JSON200) // a new one, and that of an equal key
		if answer == nil {
			log.Fatalf("%s", started.Body)
		}
		scroll := &answer.Scroll
		for scroll.Status == api.ScrollStatusQueued || scroll.Status == api.ScrollStatusRunning {
			time.Sleep(100 * time.Millisecond)
			if scroll = need(client.GetScrollWithResponse(ctx, &api.GetScrollParams{Id: answer.Scroll.Id})).Scroll; scroll == nil {
				log.Fatal("there is no scroll " + answer.Scroll.Id)
			}
		}
		if scroll.Status != api.ScrollStatusCompleted {
			log.Fatalf("the scroll is %s: %+v", scroll.Status, scroll.Progress.Failure)
		}
		var _ float64 = scroll.CreatedAt // a float32 would be minutes off
		s.NewVideos = append(s.NewVideos, scroll.ResultCounts.Videos)
		s.Dropped = append(s.Dropped, scroll.Progress.Dropped)
	}

	for more := (*string)(nil); ; {
		page := need(client.ListHooksWithResponse(ctx, &api.ListHooksParams{Cursor: more}))
		for _, hook := range page.Hooks {
			s.Hooks = append(s.Hooks, hook.Video.ExternalId)
		}
		if more = page.NextCursor; more == nil {
			break
		}
	}
	for _, trend := range need(client.ListTrendsWithResponse(ctx, &api.ListTrendsParams{})).Trends {
		s.Trends = append(s.Trends, trend.Key)
	}
	score := 3.0
	outliers := need(client.ListOutliersWithResponse(ctx, &api.ListOutliersParams{MinScore: &score})).Outliers
	for _, outlier := range outliers {
		s.Outliers = append(s.Outliers, outlier.Video.ExternalId)
	}
	if !slices.ContainsFunc(outliers, func(o api.Outlier) bool { return o.Video.Metadata.Caption != nil }) {
		log.Fatal("no outlier has a caption")
	}
	for _, list := range [][]string{s.Hooks, s.Outliers, s.Trends} {
		slices.Sort(list)
	}

	video := outliers[0].Video.Id
	need(client.ArchiveLibraryVideoWithResponse(ctx, api.ArchiveLibraryVideoRequest{VideoId: video, Archived: true}))
	after := need(client.ListOutliersWithResponse(ctx, &api.ListOutliersParams{MinScore: &score})).Outliers
	s.ArchivedIsListed = slices.ContainsFunc(after, func(o api.Outlier) bool { return o.Video.Id == video })
	s.Subscription = string(need(client.GetUsageWithResponse(ctx)).Status)
	return s
}
