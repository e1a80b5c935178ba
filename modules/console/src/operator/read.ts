// Signing in by the link's code, and reading the overview every few seconds.
import { signal } from "@preact/signals";

export type ScrollRow = { id: string; account: string; step: string; failureCode: string; attempt: number; createdAt: number; heartbeatAt: number };

/** A setting or secret of a plugin. `value` is empty for a secret; `variable` for one without. */
export type Setting = {
  plugin: string; name: string; type: string; min: string; max: string; values: string[] | null;
  value: string; set: boolean; secret: boolean; required: boolean; variable: string; help: string;
};

/** Lists are null where they are empty. Times are Unix milliseconds, 0 for none. */
export type Overview = {
  at: number;
  version: string;
  roles: string[];
  connections: { inUse: number; idle: number; max: number };
  queue: { kind: string; jobs: number; oldestMs: number }[] | null;
  running: ScrollRow[] | null;
  queued: ScrollRow[] | null;
  failed: ScrollRow[] | null;
  quotas: { plugin: string; name: string; window: string; used: number; limit: number; tenants: number; renewsAt: number }[] | null;
  plugins: { id: string; kind: string; version: string; state: string; builtin: boolean; checks: boolean }[] | null;
  tenants: { account: string; units: number; running: number }[] | null;
  hours: { at: number; requests: number; failed: number; medianMs: number; slowMs: number }[] | null;
  ends: { plugin: string; cause: string; calls: number }[] | null;
  disks: { of: string; free: number }[] | null;
  kept: { source: string; accounts: number; readings: number; oldestAt: number; nextAt: number; overdue: number }[] | null;
  troubles: { kind: string; of: string; n: number }[] | null;
  settings: Setting[] | null;
};

const tokenKey = "scrollery.operator";
const every = 5_000;

export const overview = signal<Overview | null>(null);
/** `in`, `out`, or `refused`: the code of the link did not open. */
export const state = signal<"in" | "out" | "refused">(sessionStorage.getItem(tokenKey) ? "in" : "out");
export const away = signal(false);

export async function enter(code: string): Promise<void> {
  try {
    const answer = await fetch("/operator/enter", { method: "POST", credentials: "omit", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
    if (!answer.ok) {
      state.value = "refused";
      return;
    }
    sessionStorage.setItem(tokenKey, ((await answer.json()) as { token: string }).token);
    state.value = "in";
  } catch {
    away.value = true;
  }
}

/** Ends the session, on the server too. */
export function leave(): void {
  const token = sessionStorage.getItem(tokenKey);
  if (token) void fetch("/operator/leave", { method: "POST", credentials: "omit", headers: { Authorization: `Bearer ${token}` } }).catch(() => undefined);
  forget();
}

export type Reloaded = { plugins: string[] | null; restart: string[] | null };

/** What the server answers to an order of the session, or the error in its own words. */
async function post<T>(path: string, body?: unknown): Promise<T | Error> {
  try {
    const answer = await fetch(`/operator/${path}`, {
      method: "POST", credentials: "omit", body: body === undefined ? null : JSON.stringify(body),
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${sessionStorage.getItem(tokenKey) ?? ""}` },
    });
    return answer.ok ? ((await answer.json()) as T) : new Error(await answer.text());
  } catch (failure) {
    return new Error(String(failure));
  }
}

/** Has the server read its settings again. */
export async function reload(): Promise<Reloaded | Error> {
  const done = await post<Reloaded>("reload");
  if (!(done instanceof Error)) void read();
  return done;
}

/** What a plugin says of its settings and connection. */
export const check = (plugin: string): Promise<{ check: string } | Error> => post("check", { plugin });

/** A key that opens an account. */
export type Key = { id: string; hint: string; session: boolean; createdAt: number };

/** An account without its address. Times are Unix milliseconds, 0 for none. */
export type Account = {
  id: string; plan: string; interval: string; status: string; limits: string; credits: number; owed: number;
  createdAt: number; blockedAt: number; leavesAt: number; keys: Key[] | null;
};

/** The account that a list asks the card to show; the card takes it away. */
export const chosen = signal("");

/** Shows the account of an id or an address, after it did something with it. */
export const order = (account: string, todo = "", values: string[] = []): Promise<Account | Error> => post<Account>("account", { account, do: todo, values });

/** Cancels a scroll, or starts another one for the same, whose id it returns. */
export async function orderScroll(scroll: string, todo: "cancel" | "retry"): Promise<{ scroll: string } | Error> {
  const done = await post<{ scroll: string }>("scroll", { scroll, do: todo });
  if (!(done instanceof Error)) void read();
  return done;
}

function forget(): void {
  sessionStorage.removeItem(tokenKey);
  overview.value = null;
  state.value = "out";
}

async function read(): Promise<void> {
  const token = sessionStorage.getItem(tokenKey);
  if (!token) return;
  try {
    const answer = await fetch("/operator/status", { credentials: "omit", headers: { Authorization: `Bearer ${token}` } });
    if (answer.status === 401) return forget();
    if (!answer.ok) throw new Error(`the overview answers ${answer.status}`);
    overview.value = (await answer.json()) as Overview;
    away.value = false;
  } catch {
    away.value = true;
  }
}

/** Reads now and from then on, but not while the page is hidden. */
export function follow(): () => void {
  void read();
  const timer = setInterval(() => !document.hidden && void read(), every);
  return () => clearInterval(timer);
}
