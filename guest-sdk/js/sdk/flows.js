// Flows calling flows.

import * as native from "native";
import { abortable, signalOf } from "./signals.js";

const made = () => {
  throw new TypeError("the host makes these: see load and callee.start");
};

/** Finds a flow by its reference, which the manifest must list in `loads`. */
export async function load(reference) {
  return await native.load(reference);
}

/** What is handed over, with params as JSON. */
function lowered(given) {
  if (given?.params == null) return given;
  return { ...given, params: JSON.stringify(given.params) };
}

/** A flow that can be called, any number of times and many at once. */
export class Callee {
  constructor() {
    made();
  }
  get name() {
    return native.calleeName(this);
  }
  get manifest() {
    return JSON.parse(native.calleeManifest(this));
  }
  async call(task, given) {
    const answer = await abortable(signalOf(given), (stops) => native.calleeCall(this, task, lowered(given), stops));
    return JSON.parse(answer);
  }
  start(task, given) {
    return native.calleeStart(this, task, lowered(given));
  }
}

/** A call of a flow that was started. */
export class Branch {
  constructor() {
    made();
  }
  async wait(options) {
    return JSON.parse(await abortable(signalOf(options), (stops) => native.branchWait(this, stops)));
  }
  done() {
    return native.branchDone(this);
  }
  cancel() {
    native.branchCancel(this);
  }
}
