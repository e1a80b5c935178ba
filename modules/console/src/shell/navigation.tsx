// The navigation beside the page; above it on narrow screens.
import { useEffect, useState } from "preact/hooks";
import { signOut } from "../api/signin";
import { clients, has, researchScopes, session, signedIn } from "../api/session";
import { time } from "../i18n/format";
import { speak, t } from "../i18n/t";
import { pages } from "../pages/index";
import { Clients } from "../pages/later";
import { Dialog } from "../ui/dialog";
import { Button, Link } from "../ui/parts";
import { announce } from "./announce";
import { listed } from "./keyboard";
import { language, theme, type Language, type Theme } from "./preferences";
import { navigate, segments, to } from "./router";

const themes: Theme[] = ["auto", "light", "dark"];
const languages: Record<Language, string> = { en: "English", de: "Deutsch" };

export function Navigation() {
  // On a narrow screen the pages stand behind a button.
  const [open, setOpen] = useState(false);
  const at = segments.value.join("/");
  useEffect(() => setOpen(false), [at]);
  return (
    <header class={open ? "side open" : "side"} onKeyDown={(event) => { if (event.key === "Escape") setOpen(false); }}>
      <Link class="brand" href={to()}>
        <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" class="mark" /><path d="M7 22l6-6 4 4 8-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" /></svg>
        <span class="brand-name">Scrollery</span>
      </Link>
      {clients.value.length > 0 && <Client />}
      <button type="button" class="button menu" aria-expanded={open} onClick={() => setOpen(!open)}>{t("nav.menu")}</button>
      {signedIn.value && <Pages />}
      <div class="side-foot">
        {clients.value.length > 0 && <SessionState />}
        <Preferences />
        {signedIn.value && <Button kind="quiet" onClick={() => { listed.value = true; }}>{t("keyboard.title")} <kbd>?</kbd></Button>}
      </div>
    </header>
  );
}

/** The client that the pages are of. It opens the list of all, on every page. */
function Client() {
  const [open, setOpen] = useState(false);
  const name = session.value ? session.value.name || t("clients.unnamed") : t("clients.choose");
  return (
    <>
      <button type="button" class="button client" aria-haspopup="dialog" aria-label={t("clients.button", { name })} onClick={() => setOpen(true)}>
        <bdi>{name}</bdi>
        <svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><path d="M7 10l5 5 5-5" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" /></svg>
      </button>
      {open && <Dialog title={t("clients.title")} onClose={() => setOpen(false)}><Clients close={() => setOpen(false)} /></Dialog>}
    </>
  );
}

function Pages() {
  const current = segments.value[0] ?? "";
  return (
    <nav aria-label={t("nav.label")}>
      <ul>
        {pages.filter((page) => page.icon).map((page) => (
          <li key={page.path}>
            <Link href={page.path ? to(page.path) : to()} aria-current={page.path === current ? "page" : undefined}>
              <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d={page.icon} fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" /></svg>
              {t(page.title)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function SessionState() {
  const end = () => void signOut().then(() => navigate(to()));
  return (
    <div class="session">
      {session.value && <p>{t(has(researchScopes) ? "session.writes" : "session.reads", { until: time(session.value.expiresAt) })}</p>}
      <Button kind="quiet" onClick={end}>{clients.value.length > 1 ? t("session.endAll", { n: clients.value.length }) : t("session.end")}</Button>
    </div>
  );
}

/** Changes the language and keeps the choice. */
async function choose(next: Language) {
  try {
    await speak(next);
    localStorage.setItem("scrollery.language", next);
  } catch {
    announce(t("problem.offline"));
  }
}

function Preferences() {
  return (
    <div class="preferences">
      <label>
        <span class="hidden">{t("preferences.theme")}</span>
        <select value={theme.value} onChange={(event) => { theme.value = event.currentTarget.value as Theme; }}>
          {themes.map((one) => <option key={one} value={one}>{t(`preferences.${one}`)}</option>)}
        </select>
      </label>
      <label>
        <span class="hidden">{t("preferences.language")}</span>
        <select value={language.value} onChange={(event) => void choose(event.currentTarget.value as Language)}>
          {Object.entries(languages).map(([code, name]) => <option key={code} value={code} lang={code}>{name}</option>)}
        </select>
      </label>
    </div>
  );
}
