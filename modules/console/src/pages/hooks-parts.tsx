// Reading hooks: what is seen in words, their patterns, and which repeat each other.
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema, type Value } from "@bufbuild/protobuf/wkt";
import type { Hook } from "../../gen/scrollery/v1/library_pb";

/** The summary of what is seen: a text, or an object with one. */
export function visualOf(visual: Value | undefined): string {
  const value = visual ? toJson(ValueSchema, visual) : null;
  if (typeof value === "string") return value;
  if (value && typeof value === "object" && !Array.isArray(value) && typeof value["summary"] === "string") return value["summary"];
  return "";
}

export const patterns = ["question", "number", "short", "quote"] as const;
export type Pattern = (typeof patterns)[number];

const wordLike = /[\p{L}\p{N}]/u;
/** Words of these scripts have no space between them: a letter counts as a word. */
const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])\S)+/gu;
/** The first sentence with the signs that follow it. A full stop ends one only before white space. */
const sentence = /^.*?(?:(?!\.)[\p{Sentence_Terminal}…]|\.(?=$|[\s\p{Sentence_Terminal}…\p{Quotation_Mark}\p{Pe}]))[\p{Sentence_Terminal}…\p{Quotation_Mark}\p{Pe}]*/su;

const countWords = (text: string) => (text.match(words) ?? []).filter((word) => wordLike.test(word));

/** The patterns that a text follows, as the server names them in the keys of trends. */
function patternsOfText(text: string): Pattern[] {
  const first = sentence.exec(text)?.[0] ?? text;
  const found: Pattern[] = [];
  if (/[?？؟]/u.test(first)) found.push("question");
  if (countWords(text).slice(0, 8).some((word) => /\p{Nd}/u.test(word))) found.push("number");
  const length = countWords(first).length;
  if (length >= 1 && length <= 5 && wordLike.test(text.slice(first.length))) found.push("short");
  if (/^\p{Quotation_Mark}/u.test(text)) found.push("quote");
  return found;
}

export function patternsOf(hook: Hook): Pattern[] {
  const found = new Set([hook.spoken, hook.onScreenText].map((text) => text?.trim() ?? "").filter(Boolean).flatMap(patternsOfText));
  return patterns.filter((pattern) => found.has(pattern));
}

/** The first 20 letters and digits of what is spoken, else of the text on screen; hooks without either are alone. */
function openingOf(hook: Hook): string {
  for (const text of [hook.spoken, hook.onScreenText]) {
    const letters = (text ?? "").normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}]/gu)?.slice(0, 20).join("");
    if (letters) return letters;
  }
  return `video ${hook.video?.id}`;
}

/** Hooks with one opening stand together, in the order of their first. */
export function grouped(hooks: Hook[]): Hook[][] {
  const groups = new Map<string, Hook[]>();
  for (const hook of hooks) {
    const opening = openingOf(hook);
    const group = groups.get(opening);
    if (group) group.push(hook);
    else groups.set(opening, [hook]);
  }
  return [...groups.values()];
}
