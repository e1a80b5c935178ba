// What went wrong with a call, as the pages show it.
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorSchema } from "../../gen/scrollery/v1/error_pb";

export type Problem = {
  /** The API's own name of the error, or `offline` when no answer came. */
  kind: string;
  /** In the words of the server, in English. */
  message: string;
  /** Faults of single fields, by JSON path. */
  issues: { path: string; message: string }[];
  /** Seconds until the call may be repeated; 0 where the server names none. */
  retryAfter: number;
  requiredScope: string;
  grantedScopes: string[];
};

export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** Reads any error that a call can throw. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Failure) return error.problem;
  const connect = ConnectError.from(error);
  if (connect.cause instanceof Failure) return connect.cause.problem; // thrown by an interceptor
  const detail = connect.findDetails(ErrorSchema)[0];
  if (detail) {
    return {
      kind: detail.error,
      message: detail.message,
      issues: (detail.issues ?? []).map(({ path, message }) => ({ path, message })),
      retryAfter: detail.retryAfter ?? 0,
      requiredScope: detail.requiredScope ?? "",
      grantedScopes: detail.grantedScopes ?? [],
    };
  }
  return { kind: kindOf(connect), message: connect.rawMessage, issues: [], retryAfter: 0, requiredScope: "", grantedScopes: [] };
}

function kindOf(error: ConnectError): string {
  if (error.code === Code.Canceled) return "cancelled";
  if (error.cause instanceof TypeError || error.code === Code.Unavailable || error.code === Code.DeadlineExceeded) return "offline";
  if (error.code === Code.Unauthenticated) return "unauthorized";
  if (error.code === Code.ResourceExhausted) return "rate_limited";
  return "operation_error";
}
