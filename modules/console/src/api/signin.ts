// Signing in and out, for one client or several. A key that was pasted is used for one call, which makes a session
// key of one hour, and is then forgotten.
import { createClient } from "@connectrpc/connect";
import { signal } from "@preact/signals";
import { AccountService } from "../../gen/scrollery/v1/account_service_pb";
import { KeysService } from "../../gen/scrollery/v1/keys_service_pb";
import { WorkspaceService } from "../../gen/scrollery/v1/workspace_service_pb";
import { transportFor } from "./client";
import { Failure, problemOf, type Problem } from "./problem";
import { clients, forget, forgetDrafts, freeName, keep, nameClient, readScopes, session, sessionOf, workFor, type Session } from "./session";

const lifeSeconds = 3600;

/** Why the code of the address opened nothing; null while it did or there was none. */
export const codeProblem = signal<"used" | "offline" | null>(null);

/** Signs in with a key, for a new client or for one that is there, whose session before is ended. */
export async function signIn(key: string, wanted: string[] = readScopes): Promise<void> {
  const made = await lend(key.trim(), wanted);
  const before = sessionOf(made.account);
  keep({ ...made, name: before?.name ?? "" });
  if (before && before.keyId !== made.keyId) void end(before);
  if (!before) void briefName(made).then((name) => name && sessionOf(made.account)?.name === "" && nameClient(made.account, name));
}

/** Signs in again for the client that the page is of. The key of another one is refused: nothing of two is mixed. */
export async function renew(key: string, wanted: string[]): Promise<void> {
  const before = session.value;
  if (!before) return signIn(key, wanted);
  const made = await lend(key.trim(), wanted);
  if (made.account !== before.account) {
    void end(made);
    throw new Failure({ kind: "other_account", message: "The key is of another account.", issues: [], retryAfter: 0, requiredScope: "", grantedScopes: [] });
  }
  keep({ ...made, name: before.name });
  if (before.keyId !== made.keyId) void end(before);
}

/** Signs in for one more client, and works for it at an address. Without a name it is called as in its brief. */
export async function addClient(key: string, wanted: string[], name: string, address: string): Promise<void> {
  const made = await lend(key.trim(), wanted);
  const before = sessionOf(made.account);
  if (before && before.keyId !== made.keyId) void end(before);
  const called = name.trim() || before?.name || (await briefName(made));
  workFor({ ...made, name: freeName(made.account, called) }, address);
}

/** The name of the account's workspace; empty where there is none, or it cannot be read. */
async function briefName({ token }: Session): Promise<string> {
  try {
    return (await createClient(WorkspaceService, transportFor(token)).getWorkspace({})).workspace?.name ?? "";
  } catch {
    return "";
  }
}

/** Signs out of all clients: drafts are dropped, the session keys are revoked, and forgotten even where that fails. */
export async function signOut(): Promise<void> {
  const ending = clients.value;
  for (const { account } of ending) forget(account);
  forgetDrafts();
  await Promise.all(ending.map(end));
}

/** Signs out of the client that the tab works for, and works for another one. */
export async function removeClient(next: Session, address: string): Promise<void> {
  const ending = session.value;
  if (ending) {
    await end(ending);
    forget(ending.account);
    forgetDrafts(ending.account);
  }
  workFor(next, address);
}

async function end(ending: Session): Promise<void> {
  try {
    await createClient(KeysService, transportFor(ending.token)).revokeKey({ id: ending.keyId });
  } catch {
    // It ends by itself within the hour.
  }
}

async function lend(key: string, wanted: string[]): Promise<Session> {
  const keys = createClient(KeysService, transportFor(key));
  try {
    const made = await keys.createSessionKey({ scopes: wanted, ttlSeconds: lifeSeconds });
    return { token: made.apiKey, keyId: made.keyId, scopes: made.scopes, expiresAt: made.expiresAt, account: made.accountId, name: "" };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.kind !== "forbidden") throw new Failure(problem);
    const granted = problem.grantedScopes;
    if (key.startsWith("scr_sess_")) return adopt(key, granted, problem);
    const some = wanted.filter((scope) => granted.includes(scope));
    if (some.length === 0 || some.length === wanted.length) throw new Failure(problem);
    return lend(key, some);
  }
}

/** Uses a session key as it is: it cannot make another one. */
async function adopt(token: string, scopes: string[], problem: Problem): Promise<Session> {
  const unknown = { token, keyId: "", scopes, expiresAt: Date.now() + lifeSeconds * 1000, account: `?${Date.now()}`, name: "" };
  if (!scopes.includes("account:read")) {
    // Its end is unknown: the first refused call asks again.
    if (scopes.length === 0) throw new Failure(problem);
    return unknown;
  }
  const { key, accountId } = await createClient(AccountService, transportFor(token)).getAccount({});
  return { ...unknown, keyId: key?.keyId ?? "", expiresAt: key?.expiresAt ?? unknown.expiresAt, account: accountId };
}

/** Signs in with the one-time code of an address. */
export async function exchangeCode(code: string): Promise<void> {
  try {
    const answer = await fetch("/console/exchange", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
      credentials: "omit",
    });
    if (!answer.ok) {
      codeProblem.value = "used";
      return;
    }
    const { apiKey } = (await answer.json()) as { apiKey: string };
    // The page of another client may be there already.
    if (session.value) await addClient(apiKey, readScopes, "", location.pathname);
    else await signIn(apiKey);
  } catch {
    codeProblem.value = "offline";
  }
}
