// The states of what is read: loading, failed, empty. Each page draws them with these.
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/problem";
import type { Pages, Query } from "../api/query";
import { t, word } from "../i18n/t";
import { Button } from "./parts";

export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">{t("state.loading")}</span>
      {Array.from({ length: lines }, (_, i) => <div key={i} class="bone" aria-hidden="true" />)}
    </div>
  );
}

export function Empty({ title, text, children }: { title: string; text?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <svg viewBox="0 0 48 48" width="48" height="48" aria-hidden="true"><path d="M6 34l10-10 7 7 12-17 7 9" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round" stroke-dasharray="1 6" /></svg>
      <p class="strong">{title}</p>
      {text && <p>{text}</p>}
      {children && <div class="row">{children}</div>}
    </div>
  );
}

/** Problems whose message says more than the name; the messages of others are for programs. */
const ownWords = ["invalid_request", "operation_error", "payment_required"];

/** A problem in words. The server's own message, which is English, stands below where there is no better one. */
export function ProblemView({ problem, retry }: { problem: Problem; retry?: () => void }) {
  if (problem.kind === "cancelled") return null;
  const known = word("problem", problem.kind);
  return (
    <div class="problem" role="alert">
      <p class="strong">{known === problem.kind ? t("problem.operation_error") : known}</p>
      {problem.issues.length === 0 && (known === problem.kind || ownWords.includes(problem.kind)) && <p>{problem.message}</p>}
      {problem.issues.length > 0 && <ul>{problem.issues.map((issue) => <li key={issue.path + issue.message}>{word("field", issue.path.replace(/[[.].*$/, ""))}: {issue.message}</li>)}</ul>}
      {retry && <Button onClick={retry}>{t("state.retry")}</Button>}
    </div>
  );
}

/** Shows what was read, or its state. What was read before stays while it is read again. */
export function Show<T>({ of, lines, children }: { of: Query<T>; lines?: number; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.problem && <ProblemView problem={of.problem} retry={of.reload} />}
      {of.data !== undefined ? children(of.data) : of.loading && <Loading lines={lines} />}
    </>
  );
}

/** A list with its empty state and the button for more. */
export function ShowPages<T>({ of, empty, lines, children }: { of: Pages<T>; empty: ComponentChildren; lines?: number; children: (items: T[]) => ComponentChildren }) {
  return (
    <Show of={of} lines={lines}>
      {(items) => (
        <>
          {items.length === 0 ? empty : children(items)}
          {of.unfinished && <div class="row center"><Button onClick={of.more} busy={of.loading}>{t("state.more")}</Button></div>}
        </>
      )}
    </Show>
  );
}
