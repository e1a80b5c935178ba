// Numbers and times in the person's language.
import { language } from "../shell/preferences";

const locale = () => (language.value === navigator.language.slice(0, 2) ? navigator.language : language.value);

export const number = (value: number, digits = 0) => new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);

export const compact = (value: number) => new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(value);

/** A score, with a digit behind the point only where it tells something. */
export const times = (score: number) => `${score < 1000 ? number(score, score < 10 ? 1 : 0) : compact(score)}×`;

export const percent = (part: number, digits = 0) => new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: digits }).format(part);

export const money = (dollars: number) =>
  new Intl.NumberFormat(locale(), { style: "currency", currency: "USD", minimumFractionDigits: 0, maximumFractionDigits: 2 }).format(dollars);

export const date = (at: number) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(at);

export const dateTime = (at: number) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(at);

export const time = (at: number) => new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(at);

/** The short name of a day of the week, Monday is 0. */
export const weekday = (day: number) => new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" }).format(Date.UTC(2024, 0, 1 + day));

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000_000], ["month", 2_592_000_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000],
];

/** "3 minutes ago", "in 2 days". */
export function relative(at: number, now = Date.now()): string {
  const distance = at - now;
  const [unit, size] = units.find(([, size]) => Math.abs(distance) >= size) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(distance / size), unit);
}

/** "2 min", "1 h 5 min" of milliseconds. */
export function duration(milliseconds: number): string {
  const part = (value: number, unit: string) => new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short" }).format(value);
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  if (seconds < 60) return part(seconds, "second");
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return part(minutes, "minute");
  return `${part(Math.floor(minutes / 60), "hour")} ${part(minutes % 60, "minute")}`;
}

/** A time on an axis that covers so many milliseconds. */
export function moment(at: number, span: number): string {
  if (span < 300_000) return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(at);
  if (span < 172_800_000) return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }).format(at);
  return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short" }).format(at);
}

/** The age of a video: in days from the second one on. */
export function age(milliseconds: number): string {
  if (milliseconds < 172_800_000) return duration(milliseconds);
  return new Intl.NumberFormat(locale(), { style: "unit", unit: "day", unitDisplay: "long", maximumFractionDigits: 0 }).format(milliseconds / 86_400_000);
}
