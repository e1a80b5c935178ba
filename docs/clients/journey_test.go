package clients_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"connectrpc.com/connect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// pay fills in the form of the test checkout, as a person does in a browser.
func pay(checkout, email string) error {
	answer, err := http.PostForm(checkout, url.Values{"email": {email}, "action": {"pay"}})
	if err != nil {
		return err
	}
	return errors.Join(answer.Body.Close(), map[bool]error{true: fmt.Errorf("the checkout answered %s", answer.Status)}[answer.StatusCode >= 400])
}

// journey is the journey over Connect, with connect-go.
func journey(background context.Context, at tour) (s seen, err error) {
	baseURL := at.BaseURL
	billing := scrolleryv1connect.NewBillingServiceClient(http.DefaultClient, baseURL)
	interval, plan := "monthly", "pro"
	checkout, err := billing.Subscribe(background, &scrolleryv1.SubscribeRequest{BillingInterval: &interval, Plan: &plan})
	if err != nil {
		return s, err
	}
	if err := pay(checkout.GetUrl(), at.Email); err != nil {
		return s, err
	}
	token := checkout.GetClaimToken()
	claim, err := billing.ClaimSubscription(background, &scrolleryv1.ClaimSubscriptionRequest{ClaimToken: &token})
	if err != nil {
		return s, err
	}
	if claim.GetStatus() != "completed" {
		return s, fmt.Errorf("not paid yet: %s", claim.GetStatus())
	}
	key := claim.GetApiKey()
	keyed := func() context.Context {
		ctx, call := connect.NewClientContext(background)
		call.RequestHeader().Set("Authorization", "Bearer "+key)
		return ctx
	}

	workspace := scrolleryv1connect.NewWorkspaceServiceClient(http.DefaultClient, baseURL)
	if _, err := workspace.SetWorkspace(keyed(), &scrolleryv1.SetWorkspaceRequest{Description: &at.Description, Competitors: at.Competitors}); err != nil {
		return s, err
	}
	rules := scrolleryv1connect.NewRulesServiceClient(http.DefaultClient, baseURL)
	if _, err := rules.PutRules(keyed(), &scrolleryv1.PutRulesRequest{Text: &at.Rules}); err != nil {
		return s, err
	}

	scrolls := scrolleryv1connect.NewScrollsServiceClient(http.DefaultClient, baseURL)
	for range at.Scrolls {
		started, err := scrolls.CreateScroll(keyed(), &scrolleryv1.CreateScrollRequest{})
		if err != nil {
			return s, err
		}
		id, scroll := started.GetScroll().GetId(), started.GetScroll()
		changes, err := scrolls.WatchScroll(keyed(), &scrolleryv1.WatchScrollRequest{Id: &id})
		if err != nil {
			return s, err
		}
		for changes.Receive() {
			scroll = changes.Msg().GetScroll()
		}
		if err := errors.Join(changes.Err(), changes.Close()); err != nil {
			return s, err
		}
		if scroll.GetStatus() != "completed" {
			return s, fmt.Errorf("the scroll is %s: %s", scroll.GetStatus(), scroll.GetFailureCode())
		}
		s.NewVideos = append(s.NewVideos, int(scroll.GetResultCounts().GetVideos()))
		s.Dropped = append(s.Dropped, int(scroll.GetProgress().GetDropped()))
	}

	score := 3.0
	client := scrolleryv1connect.NewLibraryServiceClient(http.DefaultClient, baseURL)
	ctx, call := connect.NewClientContext(background)
	call.RequestHeader().Set("Authorization", "Bearer "+key)
	answer, err := client.ListOutliers(ctx, &scrolleryv1.ListOutliersRequest{MinScore: &score})
	if err != nil {
		return s, err
	}
	for more := (*string)(nil); ; {
		page, err := client.ListHooks(keyed(), &scrolleryv1.ListHooksRequest{PageToken: more})
		if err != nil {
			return s, err
		}
		for _, hook := range page.GetHooks() {
			s.Hooks = append(s.Hooks, hook.GetVideo().GetExternalId())
		}
		if more = page.NextPageToken; more == nil {
			break
		}
	}
	trends, err := client.ListTrends(keyed(), &scrolleryv1.ListTrendsRequest{})
	if err != nil {
		return s, err
	}
	for _, outlier := range answer.GetOutliers() {
		s.Outliers = append(s.Outliers, outlier.GetVideo().GetExternalId())
	}
	for _, trend := range trends.GetTrends() {
		s.Trends = append(s.Trends, trend.GetKey())
	}
	for _, list := range [][]string{s.Hooks, s.Outliers, s.Trends} {
		slices.Sort(list)
	}
	if len(s.Outliers) == 0 {
		return s, errors.New("there is no outlier")
	}

	video, archived := answer.GetOutliers()[0].GetVideo().GetId(), true
	if _, err := client.ArchiveLibraryVideo(keyed(), &scrolleryv1.ArchiveLibraryVideoRequest{VideoId: &video, Archived: &archived}); err != nil {
		return s, err
	}
	after, err := client.ListOutliers(keyed(), &scrolleryv1.ListOutliersRequest{MinScore: &score})
	if err != nil {
		return s, err
	}
	s.ArchivedIsListed = slices.ContainsFunc(after.GetOutliers(), func(o *scrolleryv1.Outlier) bool { return o.GetVideo().GetId() == video })
	used, err := scrolleryv1connect.NewUsageServiceClient(http.DefaultClient, baseURL).GetUsage(keyed(), &scrolleryv1.GetUsageRequest{})
	s.Subscription = used.GetStatus()
	return s, err
}
