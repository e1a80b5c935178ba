// Signing in and out. A key that was pasted is used for one call, which makes a session
// key of one hour, and is then forgotten.
import { createClient } from "@connectrpc/connect";
import { signal } from "@preact/signals";
import { KeysService } from "../../gen/scrollery/v1/keys_service_pb";
import { transportFor } from "./client";
import { Failure, problemOf, type Problem } from "./problem";
import { forgetDrafts, keep, readScopes, session, type Session } from "./session";

const lifeSeconds = 3600;

/** Why the code of the address opened nothing; null while it did or there was none. */
export const codeProblem = signal<"used" | "offline" | null>(null);

/** Signs in with a key. A session that was open before is ended. */
export async function signIn(key: string, wanted: string[] = readScopes): Promise<void> {
  const before = session.value;
  keep(await lend(key.trim(), wanted));
  if (before && before.keyId !== session.value?.keyId) void end(before);
}

/** Signs out: drafts are dropped, the session key is revoked, and forgotten even where that fails. */
export async function signOut(): Promise<void> {
  const ending = session.value;
  keep(null);
  forgetDrafts();
  if (ending) await end(ending);
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
    return { token: made.apiKey, keyId: made.keyId, scopes: made.scopes, expiresAt: made.expiresAt };
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
  if (!scopes.includes("keys:read")) {
    // Its end is unknown: the first refused call asks again.
    if (scopes.length === 0) throw new Failure(problem);
    return { token, keyId: "", scopes, expiresAt: Date.now() + lifeSeconds * 1000 };
  }
  const { keys } = await createClient(KeysService, transportFor(token)).listKeys({ pageSize: 100 });
  const own = keys.find((key) => key.current);
  return { token, keyId: own?.id ?? "", scopes, expiresAt: own?.expiresAt ?? Date.now() + lifeSeconds * 1000 };
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
    await signIn(apiKey);
  } catch {
    codeProblem.value = "offline";
  }
}
