// What a trend is called.
import { t, word } from "../i18n/t";

/** For people: its label, or what is left of its key without one, with its sort where that alone does not say it. */
export function labelOf({ key, label }: { key: string; label?: string }): string {
  const at = key.indexOf(":");
  const [sort, rest] = [key.slice(0, at), key.slice(at + 1)];
  switch (sort) {
    case "hook": return word("pattern", rest) === rest ? (label || rest) : word("pattern", rest);
    case "sound": return `♪ ${label || rest}`;
    case "opening": return label || `${rest}…`; // a key has its first letters and digits alone
    case "hashtag": return label || `#${rest}`;
    default: return label || rest;
  }
}

export function sortOf(key: string): string {
  switch (key.slice(0, key.indexOf(":"))) {
    case "hashtag": return t("trends.hashtag");
    case "sound": return t("trends.sound");
    case "hook": return t("trends.hook");
    case "opening": return t("trends.opening");
    default: return t("trends.term");
  }
}
