// The bounds of what a stage emits, as the host has them.
import { wrong } from "./codec.js";
import { schema } from "./schema.js";

const sizeOf = (value) => (typeof value === "string" ? Buffer.byteLength(value) : value.length);

function holds(bound, type, value) {
  if (type === "int64") return !bound.max || (value >= (bound.min ?? 0) && value <= bound.max);
  if (type === "double") return Number.isFinite(value);
  if (type !== "string" && type !== "bytes") return true;
  return (!bound.bytes || sizeOf(value) <= bound.bytes) && (!bound.characters || [...value].length <= bound.characters)
    && (!bound.words || bound.words.includes(value)) && (!bound.form || new RegExp(`^(?:${bound.form})$`).test(value));
}

/** Throws a RangeError for the first value that the host would drop, cut or refuse, with its name. */
export function fits(name, message, path = name) {
  for (const [, field, type, repeated, , of, bound = {}] of schema[name]) {
    const value = message[field], at = `${path}.${field}`;
    if (repeated) {
      const length = value?.length ?? 0;
      if ((bound.items && length > bound.items) || (bound.needed && length === 0)) wrong(at, bound.want, length, RangeError);
      if (type === "message") value?.forEach((one, n) => fits(of, one, `${at}[${n}]`));
    } else if (value === undefined || value === null || value === "") {
      if (bound.needed) wrong(at, bound.want, undefined, RangeError);
    } else if (type === "message") fits(of, value, at);
    else if (!holds(bound, type, value)) wrong(at, bound.want, type === "bytes" ? sizeOf(value) : value, RangeError);
  }
}
