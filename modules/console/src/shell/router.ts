// Addresses: /console/<page>/<rest…>?query. They are real paths, so they can be linked,
// and the back button works.
import { computed, signal } from "@preact/signals";

const base = "/console/";

const place = signal(location.pathname + location.search);

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
  if (address === location.pathname + location.search) return;
  history.pushState(null, "", address);
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
  history.replaceState(null, "", address);
  place.value = address;
}

window.addEventListener("popstate", () => {
  moved.value = true;
  place.value = location.pathname + location.search;
});

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
