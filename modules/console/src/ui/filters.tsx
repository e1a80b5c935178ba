// Filters of lists. They are in the query of the address, so a filtered page can be linked.
import { toChildArray, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { number } from "../i18n/format";
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

/** Filters that stand in the row at first on a wide screen; on a narrow one it is the first alone. */
const atFirst = 3;

/** A row of filters, the others behind a button that says how many are used, and one that clears all. `names` are in their order. */
export function Filters({ names, children }: { names: string[]; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const used = names.filter((name) => filter(name)).length;
  const hidden = names.slice(atFirst).some((name) => filter(name));
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, undefined])));
  const fields = toChildArray(children);
  const few = fields.length <= atFirst + 1;
  return (
    <form class={`filters ${open || hidden ? "open" : ""} ${few ? "few" : ""}`} role="search" onSubmit={(event) => event.preventDefault()}>
      {fields}
      <div class="row tight">
        {!hidden && <button type="button" class="button more" aria-expanded={open} onClick={() => setOpen(!open)}>{t(open ? "filter.fewer" : "filter.more")}{!open && used > 0 && ` (${number(used)})`}</button>}
        {used > 0 && <Button kind="quiet" onClick={clear}>{t("filter.clear")}</Button>}
      </div>
    </form>
  );
}

type InputProps = { name: string; label: string; type?: "search" | "number" | "date"; maxLength?: number; names?: string[]; onFocus?: () => void };

/** Takes effect a moment after the last key. `names` are proposed as one types. */
export function InputFilter({ name, label, type = "search", maxLength = 200, names, onFocus }: InputProps) {
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
      {(ids) => (
        <>
          <Input type={type} value={text} onText={setText} maxLength={maxLength} min={type === "number" ? 0 : undefined} step={type === "number" ? "any" : undefined} list={names && `${ids.id}-names`} onFocus={onFocus} {...ids} />
          {names && <datalist id={`${ids.id}-names`}>{names.map((one) => <option key={one} value={one} />)}</datalist>}
        </>
      )}
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

/** The order of a list, in the address too; the first value is the usual one. */
export function Order({ values, prefix = "order" }: { values: readonly string[]; prefix?: string }) {
  return (
    <label class="order">
      <span class="hidden">{t("order.label")}</span>
      <select value={filter("order") ?? values[0]} onChange={(event) => setQuery({ order: event.currentTarget.value === values[0] ? undefined : event.currentTarget.value })}>
        {values.map((value) => <option key={value} value={value}>{word(prefix, value)}</option>)}
      </select>
    </label>
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
