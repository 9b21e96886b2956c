// What the runner calls.

import { register } from "native";
import "./globals.js";
import { Agent, Occasion, Session, Turn, Watch } from "./agents.js";
import { context } from "./context.js";
import { Env, Process } from "./envs.js";
import { lower, raise } from "./errors.js";
import { Branch, Callee } from "./flows.js";
import { manifestOf } from "./manifest.js";

/** What cancels a call: for the SDK alone. */
class Canceller {}

register({ Agent, Branch, Callee, Canceller, Env, Occasion, Process, Session, Turn, Watch }, { lower, raise });

/** The manifest of a flow, as JSON. */
export function describe(flow, file) {
  return JSON.stringify(manifestOf(flow, file));
}

/** Runs a flow; the answer is JSON. */
export async function run(flow, task) {
  const answer = await flow.default(task, context(flow.manifest?.params));
  if (typeof answer === "function" || typeof answer === "symbol") {
    throw new TypeError(`a flow's answer must be something that JSON has, not a ${typeof answer}`);
  }
  return JSON.stringify(answer) ?? "null";
}
