// Questions that a call asks the person before it can go on: their key again, when the
// session has ended or lacks a scope. The call waits; what is typed on the page stays.
import { signal } from "@preact/signals";

export type Question = {
  why: "expired" | "scopes";
  scopes: string[];
};

export const question = signal<Question | null>(null);

let waiting: ((answered: boolean) => void)[] = [];

/** Resolves with true when the person signed in again, with false when they declined. */
export function ask(asked: Question): Promise<boolean> {
  const before = question.value;
  question.value = {
    why: before?.why === "expired" ? "expired" : asked.why,
    scopes: [...new Set([...(before?.scopes ?? []), ...asked.scopes])],
  };
  return new Promise((resolve) => waiting.push(resolve));
}

export function answer(signedIn: boolean): void {
  const all = waiting;
  waiting = [];
  question.value = null;
  for (const resolve of all) resolve(signedIn);
}

/** A state of the connection that the shell shows above the page. */
export type Notice = { kind: "offline" | "limited" | "subscription"; until?: number };

export const notice = signal<Notice | null>(null);
