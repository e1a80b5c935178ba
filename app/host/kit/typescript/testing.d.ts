import type { Asking, Call, Emit, Run } from "./index.js";

/** A call of a test. answers has a text, or an HTTP status, by address. */
export function fakeCall(given?: {
  run?: Partial<Run>; settings?: { [name: string]: string }; secrets?: { [name: string]: string }; answers?: { [address: string]: string | number }; maxRecords?: number;
}): Call & {
  /** What was kept, by the handle or term. */
  readonly states: { [seed: string]: Uint8Array | string };
  /** What ask was asked. */
  readonly asked: (Asking & { address: string })[];
};

/** What a function of a stage emits for some input, and what it returns. */
export function run<I, T, A>(verb: (call: Call, items: I, emit: Emit<T>) => Promise<A>, items: any, call?: Call): Promise<{ emitted: T[]; answer: A }>;
