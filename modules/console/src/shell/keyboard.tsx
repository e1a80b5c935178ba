// Keys for those who read long lists. They work while nothing is typed and no dialog is open, and
// can be turned off. A row is where its link has the focus, so that j and k move as Tab does.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { t } from "../i18n/t";
import { Dialog } from "../ui/dialog";
import { Button } from "../ui/parts";
import { navigate, to } from "./router";

const storageKey = "scrollery.keys";

const on = signal(localStorage.getItem(storageKey) !== "off");

/** The list of keys is open. */
export const listed = signal(false);

const rows = "main :is(.ranked, .grid, .wall, .trends, .collected) > li, main tbody tr";
const opens = "a.name, a.video-card, [data-key=o], th a, h2 a";

const visible = (element: HTMLElement | null): element is HTMLElement => element !== null && element.offsetParent !== null;

/** The row that has the focus. */
const rowNow = () => document.activeElement?.closest<HTMLElement>(rows) ?? null;

function move(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(rows)].map((row) => row.querySelector<HTMLElement>(opens)).filter(visible);
  const at = links.findIndex((link) => link.closest(rows) === rowNow());
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.focus({ preventScroll: true });
  next?.closest(rows)?.scrollIntoView({ block: "nearest" });
}

/** Presses what a row has for a key; the page's own where no row has the focus. */
const press = (what: string) => [...(rowNow() ?? document).querySelectorAll<HTMLElement>(what)].find(visible)?.click();

/** How long the page with a search may take, in milliseconds. */
const patience = 5000;

/** Gives the focus to the search of this page, or of the library, once it is there. */
function search(until = performance.now() + patience): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (visible(field)) field.select();
  else if (performance.now() < until) requestAnimationFrame(() => search(until));
}

const keys: Record<string, () => void> = {
  "?": () => { listed.value = true; },
  "/": () => {
    if (!document.querySelector("main input[type=search]")) navigate(to("library"));
    search();
  },
  j: () => move(1),
  k: () => move(-1),
  o: () => rowNow() && press(opens),
  x: () => rowNow() && press(".choose-one"),
  e: () => press("[data-key=e]"),
};

const typed = (target: EventTarget | null) => target instanceof HTMLElement && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=application]") !== null;

function follow(event: KeyboardEvent): void {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typed(event.target) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  act();
}

function allow(yes: boolean): void {
  on.value = yes;
  localStorage.setItem(storageKey, yes ? "on" : "off");
}

export function Keyboard() {
  useEffect(() => {
    if (!on.value) return;
    window.addEventListener("keydown", follow);
    return () => window.removeEventListener("keydown", follow);
  }, [on.value]);
  if (!listed.value) return null;
  const close = () => { listed.value = false; };
  return (
    <Dialog title={t("keyboard.title")} onClose={close}>
      <dl class="keys">
        {(["?", "/", "j", "k", "o", "x", "e"] as const).map((key) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{t(`keyboard.${key}`)}</dd></div>)}
      </dl>
      <label class="choice"><input type="checkbox" checked={on.value} onChange={(event) => allow(event.currentTarget.checked)} /><span>{t("keyboard.on")}</span></label>
      <div class="row"><Button onClick={close}>{t("state.close")}</Button></div>
    </Dialog>
  );
}
