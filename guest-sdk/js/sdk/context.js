// What a flow knows of its own call.

import * as native from "native";
import { RequirementError } from "./errors.js";
import { format } from "./inspect.js";

const KEY = {};

/** What a flow was given: its agents and environments by role, its params, its budget. */
export class Context {
  #params;
  constructor(key, params) {
    if (key !== KEY) throw new TypeError("the host makes these: it is the second argument of the flow's function");
    this.#params = params;
  }
  agent(role) {
    const agent = this.agentOpt(role);
    if (agent === null) throw new RequirementError(`no agent fills the role ${role}`);
    return agent;
  }
  agentOpt(role) {
    return native.getAgent(role);
  }
  env(role) {
    const env = this.envOpt(role);
    if (env === null) throw new RequirementError(`no environment fills the role ${role}`);
    return env;
  }
  envOpt(role) {
    return native.getEnv(role);
  }
  get params() {
    return this.#params;
  }
  get runId() {
    return native.runId();
  }
  get branchId() {
    return native.branchId();
  }
  get path() {
    return native.path();
  }
  get resumed() {
    return native.resumed();
  }
  remaining() {
    return native.remaining();
  }
  spent() {
    return native.spent();
  }
}

/** That of this call. Params that were not given are what the schema says by default. */
export function context(schema) {
  const given = JSON.parse(native.params());
  for (const [name, { default: value } = {}] of Object.entries(schema?.properties ?? {})) {
    if (value !== undefined && !Object.hasOwn(given, name)) given[name] = structuredClone(value);
  }
  return new Context(KEY, given);
}

/** Says a line in the run's log. */
export function log(...values) {
  native.log(format(values));
}

/** Milliseconds since the epoch; the same again when the run is resumed. */
export function nowMs() {
  return native.nowMs();
}
