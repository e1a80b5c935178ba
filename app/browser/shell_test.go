package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestGerman(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)
	b.open("/console/")
	b.sees("Sign in with a key")
	eval[bool](b, `(() => { const e = [...document.querySelectorAll('select')][1]; e.value = 'de'; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
	b.sees("Mit einem Schlüssel anmelden")
	b.open("/console/subscribe")
	b.sees("Tarif wählen")
	if got := eval[string](b, "document.documentElement.lang"); got != "de" {
		t.Errorf(`the language of the document is %q, want "de"`, got)
	}
	b.check("german")
}

func TestLinksBackAndKeyboard(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(prepared(t, running).Key, false)
	b.open("/console/account/keys")
	b.sees("this session")
	b.press("Webhooks")
	b.sees("No webhooks")
	if at := b.path(); at != "/console/account/webhooks" {
		t.Errorf(`the address is %q, want "/console/account/webhooks"`, at)
	}
	b.press("Scrolls")
	b.until(`document.activeElement.tagName === 'H1' && document.title === 'Scrolls · Scrollery'`)
	b.do("back", chromedp.NavigateBack())
	b.sees("No webhooks")
	b.do("back", chromedp.NavigateBack())
	b.sees("this session")

	b.open("/console/nothing/here")
	b.sees("No such page")
	b.check("missing")
	b.do("the first Tab key", chromedp.KeyEvent("\t"))
	b.until(`document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().top >= 0`)
	b.do("the Enter key", chromedp.KeyEvent("\r"))
	b.until(`document.activeElement.id === 'main'`)
}
