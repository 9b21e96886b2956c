// What people expect of a JavaScript engine and the language itself does not have.

import { cancel, canceller, decode, encode, log, nowMs, sleep } from "native";
import { format } from "./inspect.js";
import { AbortController, AbortSignal } from "./signals.js";

let groups = 0;
const counts = new Map();
const timers = new Map();

const indented = (...values) => {
  const line = format(values);
  log(groups === 0 ? line : line.replace(/^/gm, "  ".repeat(groups)));
};

const console = {
  log: indented,
  info: indented,
  debug: indented,
  warn: indented,
  error: indented,
  trace: indented,
  dir: (value) => indented(value),
  table: (value) => indented(value),
  assert: (holds, ...values) => holds || indented("Assertion failed:", ...values),
  group: (...values) => {
    if (values.length > 0) indented(...values);
    groups += 1;
  },
  groupEnd: () => (groups = Math.max(0, groups - 1)),
  count: (label = "default") => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    indented(`${label}: ${counts.get(label)}`);
  },
  countReset: (label = "default") => counts.delete(label),
  time: (label = "default") => timers.set(label, nowMs()),
  timeLog: (label = "default") => timers.has(label) && indented(`${label}: ${nowMs() - timers.get(label)} ms`),
  timeEnd: (label = "default") => {
    console.timeLog(label);
    timers.delete(label);
  },
};
console.groupCollapsed = console.group;

let lastTimer = 0;
const waiting = new Map();

function later(callback, ms, values, again) {
  if (typeof callback !== "function") throw new TypeError("a timer calls a function");
  const id = ++lastTimer;
  const wait = Number(ms) > 0 ? Number(ms) : 0;
  const once = () => {
    const stops = canceller();
    waiting.set(id, stops);
    sleep(wait, stops).then(() => {
      if (!waiting.delete(id)) return;
      // The next one is under way before the callback, which may clear it or throw.
      if (again) once();
      callback(...values);
    });
  };
  once();
  return id;
}

function clear(id) {
  const stops = waiting.get(id);
  if (stops !== undefined && waiting.delete(id)) cancel(stops);
}

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return encode(String(text));
  }
}

class TextDecoder {
  #fatal;
  constructor(encoding = "utf-8", { fatal = false } = {}) {
    if (!/^utf-?8$/i.test(encoding)) throw new RangeError(`a TextDecoder reads utf-8 here, not ${encoding}`);
    this.#fatal = Boolean(fatal);
  }
  get encoding() {
    return "utf-8";
  }
  get fatal() {
    return this.#fatal;
  }
  decode(bytes = new Uint8Array()) {
    const text = decode(bytesOf(bytes), this.#fatal);
    if (text === null) throw new TypeError("the bytes are not utf-8");
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

function bytesOf(value) {
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError("a TextDecoder reads a Uint8Array, another view or an ArrayBuffer");
}

function structuredClone(value) {
  return clone(value, new Map());
}

function clone(value, known) {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`${String(value)} cannot be cloned`);
  }
  if (typeof value !== "object" || value === null) return value;
  if (known.has(value)) return known.get(value);
  const keep = (copy) => {
    known.set(value, copy);
    return copy;
  };
  if (Array.isArray(value)) {
    const copy = keep(new Array(value.length));
    for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
    return copy;
  }
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) return keep(new value.constructor(value));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, each] of value) copy.set(clone(key, known), clone(each, known));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const each of value) copy.add(clone(each, known));
    return copy;
  }
  if (value instanceof Error) {
    const copy = keep(new (value.constructor === Error ? Error : (globalThis[value.name] ?? Error))(value.message));
    if (value.cause !== undefined) copy.cause = clone(value.cause, known);
    return copy;
  }
  const copy = keep({});
  for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
  return copy;
}

let origin = null;
const performance = {
  now: () => {
    origin ??= nowMs();
    return nowMs() - origin;
  },
};

const globals = {
  AbortController,
  AbortSignal,
  TextDecoder,
  TextEncoder,
  clearInterval: clear,
  clearTimeout: clear,
  console,
  performance,
  queueMicrotask: (callback) => void Promise.resolve().then(() => callback()),
  setInterval: (callback, ms, ...values) => later(callback, ms, values, true),
  setTimeout: (callback, ms, ...values) => later(callback, ms, values, false),
  structuredClone,
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}


// See the runner's modules: what is exported as default and is an async arrow function is given to this on its way.
Object.defineProperty(globalThis, "$flow", { get: () => undefined, set: () => {} });
