// The frame of all pages: navigation, notices, dialogs and the page of the address.
import { Component, type ComponentChildren } from "preact";
import { signedIn } from "../api/session";
import { t } from "../i18n/t";
import { pages } from "../pages/index";
import { Claim, Subscribe } from "../pages/later";
import { Welcome } from "../pages/welcome";
import { Empty } from "../ui/states";
import { Button, Link, PageHead } from "../ui/parts";
import { Announcer } from "./announce";
import { Keyboard } from "./keyboard";
import { KeyDialog } from "./keydialog";
import { Navigation } from "./navigation";
import { Notices } from "./notices";
import { segments, to } from "./router";

export function App() {
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>{t("nav.skip")}</a>
      <div class="frame">
        <Navigation />
        <div class="body">
          <Notices />
          <main id="main" tabIndex={-1}>
            <Caught key={segments.value.join("/")}><CurrentPage /></Caught>
          </main>
        </div>
      </div>
      <KeyDialog />
      {signedIn.value && <Keyboard />}
      <Announcer />
    </>
  );
}

function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Loads the script of the page at the address, if it has one of its own. */
export async function preparePage(): Promise<void> {
  const page = pages.find(({ path }) => path === (segments.value[0] ?? ""))?.view;
  if (signedIn.value && page && "prepare" in page) await page.prepare();
}

function CurrentPage() {
  const [first = "", ...rest] = segments.value;
  if (first === "claim") return <Claim />;
  if (first === "subscribe") return <Subscribe />;
  if (!signedIn.value) return <Welcome />;
  const page = pages.find(({ path }) => path === first);
  if (!page) return <Missing />;
  return <page.view key={first} rest={rest} />;
}

function Missing() {
  return (
    <>
      <PageHead title={t("missing.title")} />
      <Empty title={t("missing.text")}><Link class="button" href={to()}>{t("nav.start")}</Link></Empty>
    </>
  );
}

/** Keeps a fault of one page from taking the others with it. */
class Caught extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  static override getDerivedStateFromError() {
    return { failed: true };
  }
  override state = { failed: false };
  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Empty title={t("problem.page")}><Button onClick={() => this.setState({ failed: false })}>{t("state.retry")}</Button></Empty>
    );
  }
}
