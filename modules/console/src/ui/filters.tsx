// Filters of lists. They are in the query of the address, so a filtered page can be linked.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t, word } from "../i18n/t";
import { query, setQuery } from "../shell/router";
import { Input } from "./input";
import { Button, Field } from "./parts";

const pause = 350;
const day = 86_400_000;

export const platforms = ["youtube", "tiktok", "instagram"];
export const kinds = ["own", "competitor", "niche"];

/** The value of a filter, or undefined. */
export function filter(name: string): string | undefined {
  return query.value.get(name) || undefined;
}

export function numberFilter(name: string): number | undefined {
  const value = Number(filter(name) ?? NaN);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The beginning of the day of a filter, or of the day after it, in the person's time zone. */
export function dayFilter(name: string, after = false): number | undefined {
  const [year, month, dayOfMonth] = (filter(name) ?? "").split("-").map(Number);
  if (!year || !month || !dayOfMonth) return undefined;
  const at = new Date(year, month - 1, dayOfMonth).getTime() + (after ? day : 0);
  return at >= 1 ? at : undefined;
}

/** A row of filters with a button that clears them. */
export function Filters({ names, children }: { names: string[]; children: ComponentChildren }) {
  const used = names.some((name) => filter(name));
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, undefined])));
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {children}
      {used && <Button kind="quiet" onClick={clear}>{t("filter.clear")}</Button>}
    </form>
  );
}

type InputProps = { name: string; label: string; type?: "search" | "number" | "date"; maxLength?: number };

/** Takes effect a moment after the last key. */
export function InputFilter({ name, label, type = "search", maxLength = 200 }: InputProps) {
  const kept = filter(name) ?? "";
  const [text, setText] = useState(kept);
  // What this field put into the address: only what others put there replaces its text.
  const put = useRef(kept);
  useEffect(() => {
    if (text.trim() === put.current) return;
    const timer = setTimeout(() => {
      put.current = text.trim();
      setQuery({ [name]: put.current || undefined });
    }, pause);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (kept === put.current) return;
    put.current = kept;
    setText(kept);
  }, [kept]);
  return (
    <Field label={label}>
      {(ids) => <Input type={type} value={text} onText={setText} maxLength={maxLength} min={type === "number" ? 0 : undefined} step={type === "number" ? "any" : undefined} {...ids} />}
    </Field>
  );
}

type ChoiceProps = { name: string; label: string; values: string[]; prefix: string };

export function ChoiceFilter({ name, label, values, prefix }: ChoiceProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <select value={filter(name) ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value || undefined })} {...ids}>
          <option value="">{t("filter.all")}</option>
          {values.map((value) => <option key={value} value={value}>{word(prefix, value)}</option>)}
        </select>
      )}
    </Field>
  );
}

export function CheckFilter({ name, label }: { name: string; label: string }) {
  return (
    <label class="choice">
      <input type="checkbox" checked={filter(name) === "1"} onChange={(event) => setQuery({ [name]: event.currentTarget.checked ? "1" : undefined })} />
      <span>{label}</span>
    </label>
  );
}
