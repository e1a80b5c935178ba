package browser_test

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// insert types a text at the cursor in one event, as an input method does.
func insert(ctx context.Context, target *chromedp.Target, text string) error {
	_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
	return err
}
