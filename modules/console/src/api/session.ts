// The session keys that this browser tab works with, one for each client: an account of which
// the person has a key. They are kept in sessionStorage: they end with the tab, and other tabs
// have their own. The keys they were made from are never kept. A tab works for one client at a
// time, and loads its document anew for another: nothing of one is in memory for the next.
import { computed, signal } from "@preact/signals";

export type Session = {
  token: string;
  keyId: string;
  scopes: string[];
  /** Unix milliseconds. */
  expiresAt: number;
  /** The id of the account; one of this tab's own, which begins with `?`, where the key may not read it. */
  account: string;
  /** What the person calls the client; empty without a name. */
  name: string;
};

type Kept = { current: string; clients: Session[] };

const storageKey = "scrollery.session";
const arrivedKey = "scrollery.arrived";
const draftPrefix = "scrollery.draft.";

/** The name under which a page keeps what was typed and is not saved. It is the client's, and ends with the sign-in. */
export const draftKey = (name: string) => `${draftPrefix}${session.value?.account ?? ""}.${name}`;

/** What a session may do from the start. */
export const readScopes = [
  "account:read", "keys:read", "library:read", "rules:read", "scrolls:read", "shares:read", "sources:read", "usage:read", "webhooks:read", "workspace:read",
];

/** What a person changes in their research: brief, rules, scrolls and library. */
export const researchScopes = ["library:write", "rules:write", "scrolls:write", "shares:write", "workspace:write"];

/** What a person changes in their account. */
export const accountScopes = ["keys:write", "sources:write", "webhooks:write"];

const kept = signal(restore());

export const clients = computed(() => kept.value.clients);

/** The client that this document works for, from when it is loaded; null while there is none. */
export const session = computed(() => kept.value.clients.find(({ account }) => account === kept.value.current) ?? null);

export const signedIn = computed(() => session.value !== null);

/** The session of an account as it is now; undefined once it is signed out. */
export const sessionOf = (account: string) => kept.value.clients.find((one) => one.account === account);

/** Keeps a session of a client, a new one's too, and works for it. */
export function keep(next: Session): void {
  const { clients } = kept.value;
  const known = clients.some(({ account }) => account === next.account);
  store({ current: next.account, clients: known ? clients.map((one) => (one.account === next.account ? next : one)) : [...clients, next] });
}

/** The name that a client gets: of two with one name, the later one gets a number. A key that was pasted there is no name. */
export function freeName(account: string, wanted: string): string {
  if (/scr_(live|sess)_/.test(wanted)) return "";
  const taken = kept.value.clients.filter((one) => one.account !== account).map(({ name }) => name);
  let name = wanted.trim().slice(0, 60);
  for (let n = 2; name && taken.includes(name); n++) name = `${wanted.trim().slice(0, 56)} ${n}`;
  return name;
}

export function nameClient(account: string, wanted: string): void {
  const { current, clients } = kept.value;
  const name = freeName(account, wanted);
  store({ current, clients: clients.map((one) => (one.account === account ? { ...one, name } : one)) });
}

/** Forgets a client. What was typed for it stays for its next sign-in in this tab. */
export function forget(account: string): void {
  const { current, clients } = kept.value;
  store({ current, clients: clients.filter((one) => one.account !== account) });
}

/** Drops what was typed and is not saved, for all clients or for one: the next person at this browser must not see it. */
export function forgetDrafts(account?: string): void {
  const prefix = account === undefined ? draftPrefix : `${draftPrefix}${account}.`;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name);
}

export function has(scopes: string[]): boolean {
  const granted = session.value?.scopes ?? [];
  return scopes.every((scope) => granted.includes(scope));
}

/**
 * Works for another client, which may be new, at an address. The document is loaded anew: calls, streams, timers and all
 * that was read end with this one, which keeps its client to its last moment.
 */
export function workFor(client: Session, address: string): void {
  const others = read().clients.filter(({ account }) => account !== client.account);
  const at = read().clients.findIndex(({ account }) => account === client.account);
  others.splice(at < 0 ? others.length : at, 0, client);
  sessionStorage.setItem(storageKey, JSON.stringify({ current: client.account, clients: others } satisfies Kept));
  sessionStorage.setItem(arrivedKey, "1");
  history.replaceState(null, "", address);
  location.reload();
}

/** Whether this document was loaded to work for another client; true once. */
export function arrived(): boolean {
  const found = sessionStorage.getItem(arrivedKey) !== null;
  sessionStorage.removeItem(arrivedKey);
  return found;
}

/** Changes what is kept. The client that was chosen for the next document stays chosen. */
function store(next: Kept): void {
  const chosen = read().current;
  const current = chosen !== kept.value.current && next.current === kept.value.current ? chosen : next.current;
  if (next.clients.length > 0) sessionStorage.setItem(storageKey, JSON.stringify({ ...next, current } satisfies Kept));
  else sessionStorage.removeItem(storageKey);
  kept.value = next;
}

function read(): Kept {
  try {
    const found = JSON.parse(sessionStorage.getItem(storageKey) ?? "null") as Kept | null;
    if (found && typeof found.current === "string" && found.clients.every((one) => typeof one.token === "string" && Array.isArray(one.scopes))) return found;
  } catch {
    sessionStorage.removeItem(storageKey);
  }
  return { current: "", clients: [] };
}

function restore(): Kept {
  // A browser may show a document again that worked for another client: it is loaded anew.
  window.addEventListener("pageshow", (event) => { if (event.persisted && read().current !== kept.value.current) location.reload(); });
  return read();
}
