// One call of a stage: what it knows, reads and sends.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect as tlsConnect } from "node:tls";

import { fits } from "./bounds.js";
import { encode } from "./codec.js";

const batchItems = 50, batchBytes = 1 << 20, maxRecord = 1 << 20, maxState = 64 << 10;
const ahead = 4; // batches of input that are asked for in advance

const faults = ["busy", "quota", "refused", "not_found", "misconfigured"];
const pause = 1000, longest = 30_000; // milliseconds before the second try of a request, and at most

export class Fault extends Error {
  constructor(fault, message, retryAt = 0) {
    if (!faults.includes(fault)) throw new TypeError(`a fault is one of ${faults.join(", ")}, not ${fault}`);
    super(message);
    this.fault = fault;
    this.retryAt = retryAt;
  }
}

export class Enough extends Error {}
export class Ended extends Error {}

export function log(level, message, fields = {}) {
  process.stderr.write(JSON.stringify({ "@level": level, "@message": message, ...fields }) + "\n");
}

export function textOf(seed) {
  return seed.handle || seed.term || "";
}

export function outcome(seed, platform, status, more = {}) {
  return { seed: textOf(seed), platform, status, ...more };
}

export function dollars(amount) {
  return Math.round(Number(amount) * 1e6);
}

/** Items that one side puts and the other waits for. */
class Queue {
  #items = [];
  #waiting = [];
  put(item) {
    const next = this.#waiting.shift();
    next ? next(item) : this.#items.push(item);
  }
  take() {
    return this.#items.length > 0 ? Promise.resolve(this.#items.shift()) : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export class Call {
  #send; #inputs = new Queue(); #grants = new Queue(); #spending = Promise.resolve();

  constructor(open, defaults, send) {
    this.run = open.run ?? {};
    this.settings = { ...defaults, ...open.settings };
    this.secrets = open.secrets;
    this.scratch = open.scratch;
    this.proxy = open.proxy;
    this.maxRecords = open.maxRecords;
    this.sink = undefined; // of what a collect emits
    this.once = false; // a request of a check is not repeated
    this.pauses = new Set();
    this.timeout = 30_000; // of a request; less in a check, which has 30 seconds itself
    this.#send = send;
  }

  /** Takes a message of the host; undefined is the end of the stream. */
  receive(message) {
    if (message === undefined) {
      for (const stop of this.pauses) stop();
      this.#inputs.put(undefined);
      this.#grants.put(undefined);
    } else if (message.grant) this.#grants.put(message.grant);
    else if (message.input) this.#inputs.put(message.input);
  }

  send(message) {
    return this.#send(message);
  }

  progress(note = "") {
    return this.send({ progress: { note } });
  }

  spend(quota, units, item = "") {
    const next = this.#spending.then(async () => {
      await this.send({ spend: { quota, units, item } });
      const grant = await this.#grants.take();
      if (!grant) throw new Ended();
      if (!grant.granted) throw new Fault("quota", `quota ${quota} is used up`, grant.retryAt);
    });
    this.#spending = next.catch(() => {});
    return next;
  }

  async keepState(seed, state) {
    const bytes = typeof state === "string" ? Buffer.from(state) : state;
    if (bytes.length > maxState) throw new RangeError(`${bytes.length} bytes are more than the ${maxState} that a state may have`);
    if (!this.sink) throw new Error("only collect keeps states");
    await this.sink.flush();
    const { kind, platform, handle, term } = seed;
    await this.send({ keep: { seed: { kind, platform, handle, term }, state: bytes } });
  }

  async batch() {
    const input = await this.#inputs.take();
    if (!input) throw new Ended();
    return input;
  }

  /** All input of a call whose host sends it without being asked. */
  async everything(field) {
    const items = [];
    for (;;) {
      const input = await this.batch();
      items.push(...input[field]);
      if (input.last) return items;
    }
  }

  /** The records of a screen or evidence stage; asks for more as it goes. */
  async *records() {
    for (let want = ahead; ; want = 1) {
      await this.send({ progress: { want } });
      const input = await this.batch();
      yield* input.records;
      if (input.last) return;
    }
  }

  /** Asks until there is an answer of 2xx, or the site has failed often enough: then whose fault it is. */
  async ask(address, { tries = 3, ...options } = {}) {
    const url = new URL(address);
    for (let n = 1; ; n++) {
      const last = n >= tries || this.once;
      let answer, wait = pause * 2 ** (n - 1);
      try {
        answer = await this.get(address, options);
      } catch (error) {
        if (last || !(error instanceof Fault) || error.message.includes("did not declare")) throw error; // the box always refuses
      }
      if (answer) {
        wait = Math.max(wait, retryAfter(answer.headers));
        if (last || wait > longest || ![408, 429].includes(answer.status) && answer.status < 500) return judged(answer, url.host);
      }
      await this.progress("waiting for " + url.host);
      await this.pause(wait);
    }
  }

  /** Waits; the end of the call ends it. */
  pause(wait) {
    return new Promise((resolve, reject) => {
      const end = (done, value) => {
        clearTimeout(timer);
        this.pauses.delete(stop);
        done(value);
      };
      const timer = setTimeout(() => end(resolve), wait), stop = () => end(reject, new Ended());
      this.pauses.add(stop);
    });
  }

  /** A site that does not answer is a Fault of the site. */
  async get(address, options = {}) {
    const url = new URL(address);
    try {
      return await this.#ask(url, options);
    } catch (error) {
      throw new Fault("busy", `${url.host} does not answer: ${error.message}`);
    }
  }

  async #ask(url, { method = "GET", headers = {}, body, json, timeout = this.timeout, most = 8 << 20 }) {
    if (json !== undefined) {
      [body, method] = [JSON.stringify(json), method === "GET" ? "POST" : method];
      headers = { "Content-Type": "application/json", ...headers };
    }
    if (body !== undefined) headers = { "Content-Length": Buffer.byteLength(body), ...headers };
    const secure = url.protocol === "https:";
    const target = `${url.hostname}:${url.port || (secure ? 443 : 80)}`;
    const socket = this.proxy ? await tunnel(new URL(this.proxy), target, timeout) : undefined;
    const make = () => (secure && socket ? tlsConnect({ socket, servername: url.hostname.replace(/^\[|\]$/g, "") }) : socket);
    // Without an agent, node takes the connection that it is given.
    const options = { method, headers, timeout, ...(socket ? { createConnection: make } : { agent: false }) };
    return new Promise((resolve, reject) => {
      const asked = (secure && !socket ? httpsRequest : httpRequest)(url.protocol === "https:" && socket ? plain(url) : url, options, (answer) => {
        const parts = [];
        let size = 0;
        answer.on("data", (part) => {
          if (size < most) parts.push(part);
          if ((size += part.length) >= most) answer.destroy();
        });
        answer.on("close", () => {
          const body = Buffer.concat(parts).subarray(0, most);
          const text = () => body.toString("utf8");
          const json = () => {
            try {
              return JSON.parse(text());
            } catch {
              throw new Fault("busy", `${url.host}'s answer is no JSON`);
            }
          };
          resolve({ status: answer.statusCode, headers: answer.headers, body, text, json });
        });
        answer.on("error", reject);
      });
      asked.on("timeout", () => asked.destroy(new Error("the site does not answer in time")));
      asked.on("error", reject);
      asked.end(body);
    });
  }
}

/** The milliseconds that an answer asks to wait; 0 if it does not say. */
export function retryAfter(headers) {
  const text = headers["retry-after"] ?? "", seconds = Number(text);
  const wait = text !== "" && Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return wait > 0 ? Math.min(Math.ceil(wait), 86_400_000) : 0;
}

/** An answer of 2xx; another one is a Fault that says whose it is. */
export function judged(answer, host) {
  const { status } = answer, wait = retryAfter(answer.headers), at = Date.now() + (wait || 3_600_000);
  if (status >= 200 && status < 300) return answer;
  if (status === 401 || status === 403) throw new Fault("refused", `${host} answers ${status}: it refuses the credentials`);
  if (status === 404 || status === 410) throw new Fault("not_found", `${host} answers ${status}`);
  if (status === 402 || status === 429) throw new Fault("quota", `${host} answers ${status}: it has had enough for now`, at);
  if (status === 408 || status >= 500) throw new Fault("busy", `${host} answers ${status}`, wait ? at : 0);
  throw new Error(`${host} answers ${status}, which this stage does not know`);
}

/** The address for a request whose connection is encrypted already. */
function plain(url) {
  return { protocol: "http:", host: url.hostname, port: url.port || 443, path: url.pathname + url.search, setHost: true, defaultPort: 443 };
}

/** A connection to a host through the proxy of the call. */
function tunnel(proxy, target, timeout) {
  const user = decodeURIComponent(proxy.username) + ":" + decodeURIComponent(proxy.password);
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      host: proxy.hostname, port: proxy.port, method: "CONNECT", path: target, timeout, agent: false,
      headers: { Host: target, "Proxy-Authorization": "Basic " + Buffer.from(user).toString("base64") },
    });
    asked.on("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`${answer.statusMessage || "egress: refused with status " + answer.statusCode}: ${target}`));
    });
    asked.on("timeout", () => asked.destroy(new Error("the proxy does not answer in time")));
    asked.on("error", reject);
    asked.end();
  });
}

/** Gathers what the author emits, and sends it in batches. */
export class Batcher {
  #call; #wrap; #type; #most; #lenient; #items = []; #bytes = 0; #emitted = 0;

  constructor(call, type, wrap, most, lenient) {
    this.#call = call;
    this.#type = type;
    this.#wrap = wrap;
    this.#most = most;
    this.#lenient = lenient;
  }

  async emit(item) {
    const size = encode(this.#type, item).length;
    if (!this.#lenient) fits(this.#type, item);
    if (size > maxRecord) throw new RangeError(`${size} bytes are more than the ${maxRecord} that one may have`);
    if (this.#most > 0 && this.#emitted >= this.#most) throw new Enough();
    const full = this.#items.length > 0 && this.#bytes + size > batchBytes;
    const sent = full ? this.flush() : undefined;
    this.#items.push(item);
    this.#bytes += size;
    this.#emitted++;
    if (this.#items.length >= batchItems) await this.flush();
    await sent;
  }

  flush() {
    if (this.#items.length === 0) return Promise.resolve();
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    return this.#call.send(this.#wrap(items));
  }
}
