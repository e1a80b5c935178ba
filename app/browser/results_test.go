package browser_test

import (
	"strings"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// clipboard lets the pages of a server use the clipboard, as a person would allow.
func (b *tab) clipboard() {
	b.t.Helper()
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Origin: b.base, Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// results goes through what was collected, on the sample library.
func (b *tab) results() {
	b.t.Helper()
	b.press("Outliers")
	b.until(`document.querySelector('.ranked li a') && document.querySelector('main canvas')`)
	b.check("outliers")
	eval[bool](b, `document.querySelector('.ranked li a').click(), true`)
	b.sees("Archive")
	b.until(`!document.querySelector('.loading') && document.querySelector('main canvas')`)
	b.check("outlier")

	b.press("Archive")
	b.until(find("Restore"))
	b.press("Restore")
	b.until(find("Archive"))
	b.press("Notes")
	b.until(`document.querySelector('dialog[open] textarea')`)
	b.check("notes")
	b.fill("Notes on this video", "angle: price")
	b.press("Save the notes")
	b.until(`!document.querySelector('dialog') && document.querySelector('.notes')?.innerText.includes('price')`)

	b.press("Hooks")
	b.until(`document.querySelector('.wall .hook')`)
	b.check("hooks")
	b.clipboard()
	b.press("Copy as text")
	b.sees("Copied")
	if copied := eval[string](b, "navigator.clipboard.readText()"); !strings.Contains(copied, eval[string](b, `document.querySelector('.hook blockquote').innerText.trim().slice(0, 40)`)) {
		b.t.Errorf("the clipboard has %q", copied)
	}

	b.press("Trends")
	b.until(`document.querySelector("main canvas") && !document.querySelector(".loading")`)
	b.check("trends")

	b.press("Rules")
	b.sees("Tried on the newest")
	b.check("rules")
	b.fill("Rules", "- at least 100000 views\n- keep it interesting\n- skip giveaways")
	b.sees("Not saved yet")
	b.sees("Unclear")
	b.check("rules-preview")

	b.press("Library")
	b.until(`document.querySelectorAll('tbody tr').length > 5`)
	b.check("library")
}
