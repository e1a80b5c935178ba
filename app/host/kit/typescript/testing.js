// Runs the functions of a stage on saved input, without a process.
import { judged } from "./call.js";

/** A call of a test. answers has a text, or an HTTP status, by address. */
export function fakeCall({ run = {}, settings = {}, secrets = {}, answers = {}, maxRecords = 0 } = {}) {
  return {
    run: { number: 1, now: 1_800_000_000_000, ...run }, settings, secrets, maxRecords, scratch: "",
    async progress() {},
    async spend() {},
    states: {},
    async keepState(seed, state) {
      this.states[seed.handle || seed.term] = state;
    },
    async get(address) {
      if (!(address in answers)) throw new Error(`the test has no answer for ${address}`);
      const answer = answers[address];
      const body = Buffer.from(typeof answer === "number" ? "" : answer), text = () => body.toString("utf8");
      return { status: typeof answer === "number" ? answer : 200, headers: {}, body, text, json: () => JSON.parse(text()) };
    },
    asked: [],
    async ask(address, options = {}) {
      this.asked.push({ address, ...options });
      return judged(await this.get(address), new URL(address).host);
    },
  };
}

/** What a function of a stage emits for some input, and what it returns. */
export async function run(verb, items, call = fakeCall()) {
  const emitted = [];
  const answer = await verb(call, items, async (item) => void emitted.push(item));
  return { emitted, answer };
}
