// What a stage in TypeScript or JavaScript needs of Scrollery. A plugin describes itself
// and hands over a function for each verb of its kind; serve calls them.
//
// What creators wrote is data: never an address to fetch, a template or an instruction.
// What a platform did not give stays undefined, since absent is not zero.
import type { Description, Fact, File, Finding, Outcome, Record, Ref, Run, Seed, Sentence, Verdict } from "./messages.js";
export type * from "./messages.js";

/** What a stage knows of the call that it works on. */
export interface Call {
  /** The brief, the rules and the prompt. */
  readonly run: Run;
  /** Those that are set, with defaults filled in. */
  readonly settings: { [name: string]: string };
  readonly secrets: { [name: string]: string };
  /** The one folder to write in. */
  readonly scratch: string;
  readonly maxRecords: number;
  /** Says that the stage still works: one that is silent for too long is ended. */
  progress(note?: string): Promise<void>;
  /** Asks for units of a quota of the description, before they are used. */
  spend(quota: string, units: number, item?: string): Promise<void>;
  /**
   * Has the host give at most 65,536 bytes back as seed.state at the next run for the same tenant; none drops what
   * was kept. Call it in collect, after emit returned for the videos that the state says were seen: the host stores
   * it with them, or neither.
   */
  keepState(seed: Seed, state: Uint8Array | string): Promise<void>;
  /**
   * Asks a host that the description names, and returns its answer of 2xx. `json` is sent as JSON, by POST. While the
   * site fails, or asks to wait for at most 30 seconds, it is asked again, `tries` times in all (3); a check asks once.
   * Then the error is a Fault: refused (401, 403), not_found (404, 410), quota (402, 429) or busy. Redirects are not
   * followed.
   */
  ask(address: string, options?: Asking & { tries?: number }): Promise<Answer>;
  /** Asks once, and returns an answer of any status; a site that does not answer is a Fault. */
  get(address: string, options?: Asking): Promise<Answer>;
}

/** What is asked: GET by default. `timeout` is in milliseconds; the answer is cut off at `most` bytes, 8 MiB by default. */
export interface Asking {
  method?: string; headers?: { [name: string]: string }; body?: string | Uint8Array; json?: unknown; timeout?: number; most?: number;
}

/** An answer over HTTP. json is the body as JSON; one that is none is a Fault of the site. */
export interface Answer { status: number; headers: { [name: string]: string | string[] | undefined }; body: Uint8Array; text(): string; json(): any }

export type Emit<T> = (item: T) => Promise<void>;
/** Ids of rules that a screen could not check, and remarks for the tenant. */
export interface Summary { unclear?: string[]; notes?: string[] }

/** The verbs: one of a kind. refresh and media are for sources, check for any stage; they are optional. */
export interface Verbs {
  plan?(call: Call, seeds: Seed[], emit: Emit<Seed>): Promise<void>;
  collect?(call: Call, seeds: Seed[], emit: Emit<Record>): Promise<Outcome[]>;
  refresh?(call: Call, refs: Ref[], emit: Emit<Record>): Promise<Outcome[]>;
  media?(call: Call, refs: Ref[], emit: Emit<File>): Promise<Outcome[]>;
  /** With afterEvidence in the description, it runs after the evidence stages and gets what they found. */
  screen?(call: Call, records: AsyncIterable<Record>, emit: Emit<Verdict>): Promise<Summary | void>;
  evidence?(call: Call, records: AsyncIterable<Record>, emit: Emit<Finding>): Promise<void>;
  brief?(call: Call, facts: Fact[], emit: Emit<Sentence>): Promise<void>;
  /**
   * Makes one cheap request, and says in one line of at most 200 characters what works, such as
   * "signed in as @acme". A Fault says what does not. It has 30 seconds.
   */
  check?(call: Call): Promise<string>;
}

/**
 * Serves the stage until the host ends it. It must be the last call of the program. The first emit of a value that is
 * beyond its bounds ends the call; with `lenient`, the host drops, cuts or refuses the value, and counts it.
 */
export function serve(description: Description, verbs: Verbs, options?: { lenient?: boolean }): void;

/** An error that says whose fault it is; retryAt is in Unix milliseconds. */
export class Fault extends Error {
  constructor(fault: "busy" | "quota" | "refused" | "not_found" | "misconfigured", message: string, retryAt?: number);
  readonly fault: string;
  readonly retryAt: number;
}
/** The call may emit no more: return what there is. It is no failure. */
export class Enough extends Error {}
/** The host has ended the call. */
export class Ended extends Error {}
/** Writes into the host's log. Never log a secret. */
export function log(level: "debug" | "info" | "warn" | "error", message: string, fields?: object): void;
/** The handle or term of a seed, as outcomes name it. */
export function textOf(seed: Seed): string;
/** An amount of US dollars, such as "0.002", in the millionths that prices and costs are in. */
export function dollars(amount: number | string): number;
/**
 * What came of one seed on one platform; every seed needs one. `cost` is for a stage with a price: without it, the
 * price of a call and of the returned records counts.
 */
export function outcome(seed: Seed, platform: string, status: string, more?: Partial<Outcome>): Outcome;
