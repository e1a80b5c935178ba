// Texts of the pages. A key that is missing, a language that is missing and a value that a
// text does not name are errors of the type check.
import { language } from "../shell/preferences";
import { messages } from "./messages";
import { number } from "./format";

type Text = string | { one: string; other: string };
type Entry = { en: Text; de: Text };
type Messages = typeof messages;
export type Key = keyof Messages;

type Names<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Template<K extends Key> = Messages[K]["en"] extends string ? Messages[K]["en"] : Messages[K]["en"] extends { other: infer O } ? O : never;
type Values<K extends Key> = Record<Names<Template<K>>, string | number>;

/** The text of a key. A text with one and other chooses by the value `n`. */
export function t<K extends Key>(key: K, ...values: [Names<Template<K>>] extends [never] ? [] : [Values<K>]): string {
  const entry: Entry = messages[key];
  const text = entry[language.value];
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
  return key in messages ? t(key as "state.loading") : value;
}
