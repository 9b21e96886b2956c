// How values look in the log.

import { report } from "./errors.js";

const DEEPEST = 4;
const LONGEST = 100;

/** A line for the log: strings as they are, everything else as its author would look at it. */
export function format(values) {
  return values.map((value) => (typeof value === "string" ? value : inspect(value, 0, []))).join(" ");
}

function inspect(value, depth, above) {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return `${value}n`;
    case "symbol":
      return value.toString();
    case "function":
      return `[function ${value.name || "(anonymous)"}]`;
    case "object":
      break;
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
  if (value === null) return "null";
  if (value instanceof Error) return report(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (above.includes(value)) return "[circular]";
  const name = value.constructor?.name ?? "null";
  if (depth > DEEPEST) return Array.isArray(value) ? "[array]" : `[${name}]`;
  const inner = (each) => inspect(each, depth + 1, [...above, value]);
  if (Array.isArray(value)) return listed("[", value, inner, "]");
  if (ArrayBuffer.isView(value)) return `${name}(${value.length}) ${listed("[", value, inner, "]")}`;
  if (value instanceof Map) {
    return `Map(${value.size}) ${listed("{ ", value, ([key, each]) => `${inner(key)} => ${inner(each)}`, " }")}`;
  }
  if (value instanceof Set) return `Set(${value.size}) ${listed("{ ", value, inner, " }")}`;
  const entries = Object.entries(value);
  const own = entries.length === 0 ? "{}" : listed("{ ", entries, ([key, each]) => `${plain(key)}: ${inner(each)}`, " }");
  return name === "Object" || name === "null" ? own : `${name} ${own}`;
}

function plain(key) {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : JSON.stringify(key);
}

function listed(open, values, show, close) {
  const shown = [];
  for (const value of values) {
    if (shown.length === LONGEST) {
      shown.push("…");
      break;
    }
    shown.push(show(value));
  }
  return open + shown.join(", ") + close;
}
