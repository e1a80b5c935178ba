// What changes without the focus is also said: one polite region for all pages.
import { signal } from "@preact/signals";

const text = signal("");

/** Says a text to those who do not see the page change. */
export function announce(message: string): void {
  text.value = message;
}

export function Announcer() {
  return <div class="hidden" role="status" aria-live="polite">{text.value}</div>;
}
