// The clients of the API. Every call passes `recover`, which resumes by itself after a
// lost network, a rate limit, an ended session or a missing scope.
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { ChangesService } from "../../gen/scrollery/v1/changes_service_pb";
import { KeysService } from "../../gen/scrollery/v1/keys_service_pb";
import { LibraryService } from "../../gen/scrollery/v1/library_service_pb";
import { RulesService } from "../../gen/scrollery/v1/rules_service_pb";
import { ScrollsService } from "../../gen/scrollery/v1/scrolls_service_pb";
import { WorkspaceService } from "../../gen/scrollery/v1/workspace_service_pb";
import { ask, notice, type Notice } from "./ask";
import { Failure, problemOf } from "./problem";
import { accountScopes, forget, has, readScopes, researchScopes, session, sessionOf } from "./session";

/** The longest wait for a rate limit, in seconds. A spent budget takes hours: that is shown, not waited for. */
const longestWait = 90;
const firstPause = 1_000;
const longestPause = 15_000;

let writes = 0;

/** How many calls of this tab may have changed something. */
export const written = () => writes;

const recover: Interceptor = (next) => async (request) => {
  // A call is for the client it began for, however often it is repeated and whoever is chosen meanwhile.
  let account = session.value?.account;
  for (let pause = firstPause; ; ) {
    const used = account === undefined ? undefined : sessionOf(account)?.token;
    if (account !== undefined && !used) throw new DOMException("The client was signed out", "AbortError");
    if (used) request.header.set("Authorization", `Bearer ${used}`);
    if (!readsOnly(request) && !["EstimateScroll", "PreviewImport"].includes(request.method.name)) writes++;
    try {
      const response = await next(request);
      if (notice.value && !waits(notice.value)) notice.value = null;
      return response;
    } catch (error) {
      const problem = problemOf(error);
      if (request.signal.aborted || request.stream) throw error;
      const reading = readsOnly(request);
      switch (problem.kind) {
        case "unauthorized":
        case "auth_required":
          if (account !== undefined && sessionOf(account)?.token !== used) continue; // another call signed in again
          if (await ask({ why: "expired", scopes: session.value?.scopes ?? readScopes })) {
            account ??= session.value?.account;
            continue;
          }
          if (account !== undefined) forget(account);
          throw new Failure(problem);
        case "forbidden":
          if (problem.requiredScope && (await ask({ why: "scopes", scopes: widened(problem.requiredScope) }))) continue;
          throw new Failure(problem);
        case "rate_limited": {
          if (problem.retryAfter <= 0 || problem.retryAfter > longestWait) throw new Failure(problem);
          const limited: Notice = { kind: "limited", until: Date.now() + problem.retryAfter * 1000 };
          notice.value = limited;
          try {
            await sleep(problem.retryAfter * 1000, request.signal);
          } catch (gone) {
            if (notice.value === limited) notice.value = null;
            throw gone;
          }
          continue;
        }
        case "offline":
          notice.value = { kind: "offline" };
          if (!reading) throw new Failure(problem);
          await back(pause, request.signal);
          pause = Math.min(pause * 2, longestPause);
          continue;
        case "subscription_required":
          notice.value = { kind: "subscription" };
          throw new Failure(problem);
        default:
          throw new Failure(problem);
      }
    }
  }
};

const readsOnly = ({ method }: { method: { idempotency: MethodOptions_IdempotencyLevel } }) => method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** Whether a call still waits for its turn: the answers of others do not end that. */
function waits(of: Notice): boolean {
  return of.kind === "limited" && Date.now() < (of.until ?? 0);
}

/** What a session has when it gains a scope: the whole group, so that one question is enough. */
function widened(scope: string): string[] {
  const group = [researchScopes, accountScopes].find((scopes) => scopes.includes(scope)) ?? [scope];
  return [...new Set([...(session.value?.scopes ?? readScopes), ...group])];
}

/** Asks for the scopes before the first write, so that nothing is sent that must fail. */
export async function allow(scopes: string[]): Promise<boolean> {
  return has(scopes) || ask({ why: "scopes", scopes: widened(scopes[0] ?? "") });
}

/** Waits; rejects when the page that asked has gone. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("The page has changed", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Waits for the network: until the browser reports it, or for the pause. */
async function back(pause: number, signal: AbortSignal): Promise<void> {
  const online = new AbortController();
  const wake = () => online.abort();
  window.addEventListener("online", wake, { once: true });
  try {
    await sleep(pause, AbortSignal.any([signal, online.signal]));
  } catch (error) {
    if (signal.aborted) throw error;
  } finally {
    window.removeEventListener("online", wake);
  }
}

export const transport = createConnectTransport({ baseUrl: location.origin, interceptors: [recover] });

/** A transport for one key that is not the session's. It recovers from nothing. */
export function transportFor(key: string) {
  const bearer: Interceptor = (next) => (request) => {
    request.header.set("Authorization", `Bearer ${key}`);
    return next(request);
  };
  return createConnectTransport({ baseUrl: location.origin, interceptors: [bearer] });
}

/** The clients that the first page needs; pages that are loaded later have their own. */
export const api = {
  changes: createClient(ChangesService, transport),
  keys: createClient(KeysService, transport),
  library: createClient(LibraryService, transport),
  rules: createClient(RulesService, transport),
  scrolls: createClient(ScrollsService, transport),
  workspace: createClient(WorkspaceService, transport),
};
