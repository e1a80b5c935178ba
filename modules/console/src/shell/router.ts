// Addresses: /console/<page>/<rest…>?query. They are real paths, so they can be linked,
// and the back button works.
import { computed, signal } from "@preact/signals";

const base = "/console/";

const place = signal(location.pathname + location.search);

/** What a step of the history has: its own name, and the address from which the person came to it. */
type Step = { name: string; from: string };

const stepNow = (): Partial<Step> => (history.state as Partial<Step> | null) ?? {};

/** How far a step was scrolled when it was left, and the address of the link that had the focus. */
type Left = { y: number; focus: string };

const left = new Map<string, Left>();
let here = stepNow().name ?? "";
let back = false;
let restoring = new AbortController();
let wanted = "";
// Pages are read after they are shown: the browser would scroll too early.
history.scrollRestoration = "manual";

/** The name of this step of the history, for what is kept of it. */
export const step = () => here;

/** Whether the person came to this step by the history: what it had is shown again. */
export const returned = () => back;

/** Whether a link of this step gets the focus again, so that the heading does not. */
export const refocuses = () => wanted !== "";

/** Whether the person came here from a page, whatever its filters were. */
export const cameFrom = (address: string) => stepNow().from?.split("?")[0] === address;

/** True once the person moved inside the console: from then on a new page takes the focus. */
export const moved = signal(false);

/** Whom the pages are about, for the title of the document: the client, where there are several. */
export const subject = signal("");

export const segments = computed(() => {
  const path = place.value.split("?")[0] ?? "";
  return path.slice(base.length).split("/").filter(Boolean).map(decode);
});

export const query = computed(() => new URLSearchParams(place.value.split("?")[1] ?? ""));

/** The address of a page: `to("scroll", id)`. */
export function to(...parts: string[]): string {
  return base + parts.map(encodeURIComponent).join("/");
}

export function navigate(address: string): void {
  const from = location.pathname + location.search;
  if (address === from) return;
  leave(false);
  const next: Step = { name: `${Date.now()} ${Math.random()}`, from };
  here = next.name;
  history.pushState(next, "", address);
  moved.value = true;
  place.value = address;
  window.scrollTo(0, 0);
}

/** Changes the query of this page, so that filters can be linked, without a step for the back button. */
export function setQuery(values: Record<string, string | undefined>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(values)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  const address = location.pathname + (text ? `?${text}` : "");
  history.replaceState(history.state, "", address);
  place.value = address;
}

/** Notes how this step is left. */
function leave(byHistory: boolean): void {
  const focus = document.activeElement?.closest("main a")?.getAttribute("href") ?? "";
  left.set(here, { y: window.scrollY, focus });
  back = byHistory;
  wanted = "";
  restoring.abort();
}

window.addEventListener("popstate", () => {
  leave(true);
  here = stepNow().name ?? "";
  moved.value = true;
  place.value = location.pathname + location.search;
  restore(left.get(here) ?? { y: 0, focus: "" });
});

/** How long a page may take until it is as long as it was, in milliseconds. */
const patience = 3000;

/** Scrolls to where a step was left and gives the focus to its link, unless the person does something first. */
function restore({ y, focus }: Left): void {
  const stop = restoring = new AbortController();
  wanted = focus;
  for (const type of ["wheel", "touchstart", "pointerdown", "keydown"]) window.addEventListener(type, () => stop.abort(), { signal: stop.signal, passive: true });
  const until = performance.now() + patience;
  const turn = () => {
    if (stop.signal.aborted) return;
    window.scrollTo(0, y);
    const late = performance.now() > until;
    const link = focus && document.querySelector<HTMLElement>(`main a[href="${CSS.escape(focus)}"]`);
    if (link) link.focus({ preventScroll: true });
    else if (late && focus) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
    if (late || (Math.abs(window.scrollY - y) < 2 && (link || !focus))) stop.abort();
    else requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
}

/** Returns the one-time code of the address and removes it from there and from the history. */
export function takeCode(): string {
  const found = /^#code=([A-Za-z0-9]+)$/.exec(location.hash);
  if (!found) return "";
  history.replaceState(null, "", location.pathname + location.search);
  return found[1] ?? "";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
