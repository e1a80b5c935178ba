// Texts of the pages. A key that is missing, a language that is missing and a value that a
// text does not name are errors of the type check.
import { signal } from "@preact/signals";
import first from "messages:first";
import { language, type Language } from "../shell/preferences";
import type { messages } from "./messages";
import { number } from "./format";

type Messages = typeof messages;
export type Key = keyof Messages;

type Names<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Template<K extends Key> = Messages[K]["en"] extends string ? Messages[K]["en"] : Messages[K]["en"] extends { other: infer O } ? O : never;
type Texts = typeof first;
type Values<K extends Key> = Record<Names<Template<K>>, string | number>;

/** The English texts that are there: those of scripts that are loaded later come with them. */
const english = signal<Texts>(first);
/** The texts of another language, which are loaded as a whole; null for English. */
const other = signal<Texts | null>(null);

/** Takes the texts that a script brings. */
export function learn(more: Texts): void {
  english.value = { ...english.value, ...more };
}

/** Loads a language and changes to it; stays with the one there is where that fails. */
export async function speak(next: Language): Promise<void> {
  if (next === "en") other.value = null;
  else {
    const answer = await fetch(`/console/messages.${next}.json`, { credentials: "omit" });
    if (!answer.ok) throw new Error(`the texts of ${next} answer ${answer.status}`);
    other.value = (await answer.json()) as Texts;
  }
  language.value = next;
}

/** The text of a key. A text with one and other chooses by the value `n`. */
export function t<K extends Key>(key: K, ...values: [Names<Template<K>>] extends [never] ? [] : [Values<K>]): string {
  const text = other.value?.[key] ?? english.value[key] ?? key;
  const given = (values[0] ?? {}) as Record<string, string | number>;
  const chosen = typeof text === "string" ? text : new Intl.PluralRules(language.value).select(Number(given.n)) === "one" ? text.one : text.other;
  return chosen.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name] ?? "";
    return typeof value === "number" ? number(value) : value;
  });
}

/** The text of a word that the API returned, if there is one; else the word itself. */
export function word(prefix: string, value: string): string {
  const key = `${prefix}.${value}`;
  return key in english.value ? t(key as "state.loading") : value;
}
