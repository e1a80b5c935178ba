// Serves a stage as HashiCorp's go-plugin asks for: gRPC over a Unix socket, on node's own HTTP/2.
import { createSecureServer, createServer } from "node:http2";
import { join } from "node:path";
import { tmpdir } from "node:os";

import { Batcher, Call, Ended, Enough, Fault, log } from "./call.js";
import { decode, encode } from "./codec.js";

const service = "/scrollery.stage.v1.StageService/";
const maxMessage = 8 << 20, maxWords = 500;
const invalidArgument = 3, internal = 13, unimplemented = 12;

// Of each verb: its name, its input (null: records that it asks for), the field of what it emits, and its type.
const known = {
  plan: ["Plan", "seeds", "seeds", "Seed"],
  collect: ["Collect", "seeds", "records", "Record"],
  refresh: ["Refresh", "refs", "records", "Record"],
  media: ["Media", "refs", "files", "File"],
  screen: ["Screen", null, "verdicts", "Verdict"],
  evidence: ["Evidence", null, "findings", "Finding"],
  brief: ["Brief", "facts", "sentences", "Sentence"],
  check: ["Check"],
};
// The verbs that a stage may have beside the one of its kind; the others are for sources.
const forAny = ["check"];
const needed = { plan: "plan", source: "collect", screen: "screen", evidence: "evidence", brief: "brief" };

/** Splits what is received into messages. */
class Frames {
  #rest = Buffer.alloc(0);
  *add(part) {
    this.#rest = Buffer.concat([this.#rest, part]);
    while (this.#rest.length >= 5) {
      const length = this.#rest.readUInt32BE(1);
      if (this.#rest[0] !== 0 || length > maxMessage) throw new Error("a message is compressed or too large");
      if (this.#rest.length < 5 + length) return;
      yield this.#rest.subarray(5, 5 + length);
      this.#rest = this.#rest.subarray(5 + length);
    }
  }
}

function framed(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Answers a stream; end(code, text) closes it with a status. */
function open(stream) {
  let status = { "grpc-status": "0" };
  // The host may cancel a call at any time, before it begins too.
  const gone = () => stream.destroyed || stream.closed;
  stream.on("error", () => {});
  stream.on("wantTrailers", () => gone() || stream.sendTrailers(status));
  if (!gone()) stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  return {
    async send(message) {
      if (gone() || stream.writableEnded) throw new Ended();
      if (!stream.write(framed(message))) {
        await new Promise((resolve) => {
          stream.once("drain", resolve);
          stream.once("close", resolve);
        });
      }
    },
    end(code = 0, text = "") {
      status = { "grpc-status": String(code), "grpc-message": encodeURIComponent(text) };
      if (!gone() && !stream.writableEnded) stream.end();
    },
  };
}

async function answer(stream, message) {
  stream.resume();
  const out = open(stream);
  await out.send(message);
  out.end();
}

/** Runs the author's function over a stream and says Done after it. */
function work(stream, verb, run, defaults, lenient) {
  const out = open(stream), frames = new Frames();
  let call;
  const fail = (code, text) => {
    call?.receive(undefined);
    out.end(code, text);
  };
  stream.on("data", (part) => {
    try {
      for (const raw of frames.add(part)) {
        const message = decode("CallRequest", raw);
        if (call) call.receive(message);
        else if (message.open) {
          call = new Call(message.open, defaults, (response) => out.send(encode("CallResponse", response)));
          perform(call, verb, run, lenient).then(() => out.end(), () => out.end(internal, "the call is over"));
        } else return fail(invalidArgument, "the first message must be Open");
      }
    } catch (error) {
      fail(invalidArgument, error.message);
    }
  });
  for (const event of ["end", "close", "aborted"]) stream.on(event, () => call?.receive(undefined));
}

async function perform(call, verb, run, lenient) {
  const [, source, field, type] = known[verb];
  // Only these are bounded by the host's number of records.
  const most = ["verdicts", "findings", "files"].includes(field) ? 0 : call.maxRecords;
  const sink = new Batcher(call, type, (items) => ({ [field]: { [field]: items } }), most, lenient);
  if (verb === "collect") call.sink = sink;
  const done = {};
  try {
    const emit = (item) => sink.emit(item);
    if (verb === "check") {
      [call.timeout, call.once] = [20_000, true]; // so that the stage says itself that the site hangs
      await call.send({ done: { checked: (await run(call)) ?? "" } });
      return;
    }
    const answer = await run(call, source === null ? call.records() : await call.everything(source), emit);
    if (verb === "screen") Object.assign(done, { unclearRules: answer?.unclear ?? [], notes: answer?.notes ?? [] });
    else if (["collect", "refresh", "media"].includes(verb)) {
      encode("Done", { outcomes: answer ?? [] }); // a wrong one is an error of the stage
      done.outcomes = answer ?? [];
    }
  } catch (error) {
    if (error instanceof Ended) throw error;
    if (error instanceof Fault) done.error = { fault: error.fault, message: error.message, retryAt: Math.trunc(error.retryAt) || 0 };
    else if (!(error instanceof Enough)) {
      log("error", "the stage failed", { error: String(error), stack: error?.stack });
      done.error = { fault: "internal", message: said(error) };
    }
  }
  await sink.flush();
  await call.send({ done });
}

/** The type of an exception and its message, which alone may be empty. */
function said(error) {
  const text = error instanceof Error ? [error.name, error.message].filter(Boolean).join(": ") : `threw ${String(error)}`;
  return (text.length > maxWords ? text.slice(0, maxWords) + "…" : text) + place(error);
}

/** The author's line that an exception comes from. */
function place(error) {
  for (const frame of String(error?.stack ?? "").split("\n").slice(1)) {
    const at = /([^\s/\\(]+):(\d+):\d+\)?$/.exec(frame);
    if (at && !/scrollery-stage[/\\]|node:|node_modules/.test(frame)) return ` (${at[1]}, line ${at[2]})`;
  }
  return "";
}

/** The keys of this run, which the host made; undefined where it wants no encryption. */
function keys() {
  const host = process.env.PLUGIN_CLIENT_CERT, pair = process.env.SCROLLERY_PLUGIN_CERT;
  delete process.env.SCROLLERY_PLUGIN_CERT; // not for programs that the stage starts
  if (!host) return undefined;
  if (!pair) throw new Error("the host offers no key: its version is older than this package");
  return { key: pair, cert: pair, ca: host, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.2" };
}

export function serve(description, verbs, { lenient = false } = {}) {
  const need = needed[description.kind], names = Object.keys(verbs);
  if (!names.includes(need) || names.some((name) => !known[name]) || (description.kind !== "source" && names.some((name) => name !== need && !forAny.includes(name)))) {
    throw new Error(`a stage of the kind ${description.kind} is served with ${need ?? "one of " + Object.keys(needed)}`);
  }
  if (process.env.SCROLLERY_STAGE !== "research-stage-1") {
    process.stderr.write("This is a plugin of Scrollery: put it into the plugin folder, it is not started by hand.\n");
    process.exit(1);
  }
  const described = encode("DescribeResponse", { description: { ...description, refreshes: "refresh" in verbs, fetchesMedia: "media" in verbs, checks: "check" in verbs } });
  const defaults = {};
  for (const setting of description.settings ?? []) if (setting.default) defaults[setting.name] = setting.default;
  const methods = new Map(names.map((name) => [service + known[name][0], name]));
  const secure = keys();
  const server = secure ? createSecureServer(secure) : createServer();
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    const path = headers[":path"], verb = methods.get(path);
    if (verb) work(stream, verb, verbs[verb], defaults, lenient);
    else if (path === service + "Describe") answer(stream, described).catch(() => {});
    else if (path === "/grpc.health.v1.Health/Check") answer(stream, Uint8Array.of(8, 1)).catch(() => {}); // SERVING
    else if (path === "/plugin.GRPCController/Shutdown") {
      answer(stream, new Uint8Array()).catch(() => {});
      setTimeout(() => process.exit(0), 50);
    } else {
      stream.resume();
      open(stream).end(unimplemented, "this stage has no " + path);
    }
  });
  process.on("SIGINT", () => {});
  const path = join(process.env.PLUGIN_UNIX_SOCKET_DIR ?? tmpdir(), "node.sock");
  server.listen(path, () => {
    process.stdout.write(`1|1|unix|${path}|grpc|\n`);
    // Standard output belongs to the handshake.
    console.log = console.info = console.debug = console.error;
  });
}
