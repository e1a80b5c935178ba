// Protocol Buffers, as far as the messages of schema.js need it.
import { schema } from "./schema.js";

const utf8 = new TextEncoder(), strict = new TextDecoder("utf-8");
const varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5;

function putVarint(out, n) {
  if (n < 0 || n > Number.MAX_SAFE_INTEGER) {
    for (n = BigInt.asUintN(64, BigInt(Math.trunc(n))); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
    out.push(Number(n));
    return;
  }
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  out.push(n);
}

function putBytes(out, number, value) {
  putVarint(out, number * 8 + bytes);
  putVarint(out, value.length);
  for (const byte of value) out.push(byte);
}

/** What a value of a type is; a wrong one would be changed on the way, or lost. */
const fits = {
  string: ["a text", (value) => typeof value === "string"],
  bytes: ["bytes or a text", (value) => typeof value === "string" || value instanceof Uint8Array],
  bool: ["true or false", (value) => typeof value === "boolean"],
  double: ["a number", (value) => Number.isFinite(value)],
  int64: ["a whole number", (value) => Number.isSafeInteger(value)],
  message: ["an object", (value) => typeof value === "object" && !Array.isArray(value)],
};

export function wrong(path, want, value, Kind = TypeError) {
  let got = typeof value === "bigint" ? value + "n" : JSON.stringify(value) ?? String(value);
  if (got.length > 80) got = got.slice(0, 80) + "…";
  throw new Kind(`${path}: want ${want}, got ${got}`);
}

function putValue(out, number, type, of, value, path) {
  const [want, is] = fits[type];
  if (value === null || !is(value)) wrong(path, want, value);
  switch (type) {
    case "string": return putBytes(out, number, utf8.encode(value));
    case "bytes": return putBytes(out, number, typeof value === "string" ? utf8.encode(value) : value);
    case "message": return putBytes(out, number, encodeInto([], of, value, path));
    case "double": {
      putVarint(out, number * 8 + fixed64);
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value, true);
      for (let i = 0; i < 8; i++) out.push(view.getUint8(i));
      return;
    }
    case "bool":
      putVarint(out, number * 8);
      return putVarint(out, value ? 1 : 0);
    default:
      putVarint(out, number * 8);
      return putVarint(out, value);
  }
}

function encodeInto(out, name, message, path) {
  for (const [field, value] of Object.entries(message)) {
    if (value !== undefined && !schema[name].some((row) => row[1] === field)) throw new TypeError(`${path} has no ${field}: ${name} has ${schema[name].map((row) => row[1]).join(", ")}`);
  }
  for (const [number, field, type, repeated, explicit, of] of schema[name]) {
    const value = message[field];
    if (value === undefined || value === null) continue;
    if (type === "map") {
      for (const [key, inner] of Object.entries(value)) {
        if (typeof inner !== "string") wrong(`${path}.${field}.${key}`, "a text", inner);
        const entry = [];
        putBytes(entry, 1, utf8.encode(key));
        putBytes(entry, 2, utf8.encode(inner));
        putBytes(out, number, entry);
      }
    } else if (repeated) {
      if (!Array.isArray(value)) wrong(`${path}.${field}`, "a list", value);
      value.forEach((item, n) => putValue(out, number, type, of, item, `${path}.${field}[${n}]`));
    } else if (explicit || type === "message" || (value !== 0 && value !== "" && value !== false)) {
      putValue(out, number, type, of, value, `${path}.${field}`);
    }
  }
  return out;
}

/** The bytes of a message. A value that does not fit is a TypeError with its name. */
export function encode(name, message) {
  if (typeof message !== "object" || message === null) wrong(name, "an object", message);
  return Uint8Array.from(encodeInto([], name, message, name));
}

class Reader {
  constructor(data) { this.data = data; this.at = 0; }
  varint() {
    let value = 0n;
    for (let n = 0n; n < 10n; n++) {
      if (this.at >= this.data.length) throw new Error("a message ends within a number");
      const byte = this.data[this.at++];
      value |= BigInt(byte & 127) << (7n * n);
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
    throw new Error("a number has no end");
  }
  take(length) {
    if (this.at + length > this.data.length) throw new Error("a message ends within a field");
    return this.data.subarray(this.at, (this.at += length));
  }
}

const zero = { string: () => "", bytes: () => new Uint8Array(), bool: () => false, double: () => 0, int64: () => 0, int32: () => 0 };

function valueOf(reader, wire, type, of) {
  if (wire === varint) {
    const n = reader.varint();
    return type === "bool" ? n !== 0 : n;
  }
  if (wire === fixed64) {
    const raw = reader.take(8);
    return new DataView(raw.buffer, raw.byteOffset, 8).getFloat64(0, true);
  }
  if (wire === fixed32) return reader.take(4);
  if (wire !== bytes) throw new Error("a field is in no known form");
  const raw = reader.take(reader.varint());
  if (type === "string") return strict.decode(raw);
  return type === "message" ? decode(of, raw) : raw.slice();
}

/** The message of some bytes. Absent fields have their zero value, or are undefined where absence means something. */
export function decode(name, data) {
  const message = {}, fields = new Map();
  for (const row of schema[name]) {
    const [number, field, type, repeated, explicit] = row;
    fields.set(number, row);
    if (type === "map") message[field] = {};
    else if (repeated) message[field] = [];
    else if (!explicit && type !== "message") message[field] = zero[type]();
  }
  const reader = new Reader(data);
  while (reader.at < data.length) {
    const tag = reader.varint();
    const row = fields.get(Math.floor(tag / 8));
    const [, field, type, repeated, , of] = row ?? [0, "", "bytes", false, false, ""];
    const value = valueOf(reader, tag % 8, type === "map" ? "bytes" : type, of);
    if (!row) continue;
    if (type === "map") {
      const entry = decode("Entry", value);
      Object.defineProperty(message[field], entry.key, { value: entry.value, enumerable: true, writable: true, configurable: true });
    } else if (repeated) message[field].push(value);
    else message[field] = value;
  }
  return message;
}
