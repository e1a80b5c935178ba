// What a person chose for this browser: colours and language. Nothing of it is a secret.
import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
export type Language = "en" | "de";

export const theme = signal<Theme>(stored("scrollery.theme", ["auto", "light", "dark"]) ?? "auto");
/** The language to begin with. */
export const preferred: Language = stored("scrollery.language", ["en", "de"]) ?? (navigator.language.startsWith("de") ? "de" : "en");
/** The language of the page as it is. Change it with `speak`, which loads its texts first. */
export const language = signal<Language>("en");

/** Follows the signals from now on. */
export function applyPreferences(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem("scrollery.theme", theme.value);
  });
  effect(() => {
    document.documentElement.lang = language.value;
  });
}

function stored<T extends string>(key: string, known: T[]): T | undefined {
  try {
    const value = localStorage.getItem(key);
    return known.find((one) => one === value);
  } catch {
    return undefined; // a frame without an origin of its own has no storage
  }
}
