// The session key that this browser tab works with. It is kept in sessionStorage: it ends
// with the tab, and other tabs have their own. The key it was made from is never kept.
import { computed, signal } from "@preact/signals";

export type Session = {
  token: string;
  keyId: string;
  scopes: string[];
  /** Unix milliseconds. */
  expiresAt: number;
};

const storageKey = "scrollery.session";
const draftPrefix = "scrollery.draft.";

/** The name under which a page keeps what was typed and is not saved. It ends with the sign-in. */
export const draftKey = (name: string) => draftPrefix + name;

/** What a session may do from the start. */
export const readScopes = [
  "account:read", "keys:read", "library:read", "rules:read", "scrolls:read", "shares:read", "sources:read", "usage:read", "webhooks:read", "workspace:read",
];

/** What a person changes in their research: brief, rules, scrolls and library. */
export const researchScopes = ["library:write", "rules:write", "scrolls:write", "shares:write", "workspace:write"];

/** What a person changes in their account. */
export const accountScopes = ["keys:write", "sources:write", "webhooks:write"];

export const session = signal<Session | null>(restore());

export const signedIn = computed(() => session.value !== null);

/** Keeps a session, or forgets it. */
export function keep(next: Session | null): void {
  if (next) sessionStorage.setItem(storageKey, JSON.stringify(next));
  else sessionStorage.removeItem(storageKey);
  session.value = next;
}

/** Drops what was typed and is not saved: the next person at this browser must not see it. */
export function forgetDrafts(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(draftPrefix)) sessionStorage.removeItem(name);
}

export function has(scopes: string[]): boolean {
  const granted = session.value?.scopes ?? [];
  return scopes.every((scope) => granted.includes(scope));
}

function restore(): Session | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? "null") as Session | null;
    if (kept && typeof kept.token === "string" && Array.isArray(kept.scopes)) return kept;
  } catch {
    sessionStorage.removeItem(storageKey);
  }
  return null;
}
