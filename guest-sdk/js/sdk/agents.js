// Agents, their sessions, turns and occasions.

import * as native from "native";
import { FlowhostError } from "./errors.js";
import { abortable, signalOf } from "./signals.js";

const made = () => {
  throw new TypeError("the host makes these: see cx.agent, agent.spawn, session.start and agent.watch");
};

/** Options whose schema is JSON, as the border carries it. */
function lowered(options) {
  if (options?.schema == null) return options;
  return { ...options, schema: JSON.stringify(options.schema) };
}

function answer(said) {
  if (said.value !== null) said.value = JSON.parse(said.value);
  return said;
}

/** A harness, a model and an effort under a role. */
export class Agent {
  constructor() {
    made();
  }
  get role() {
    return native.agentRole(this);
  }
  get harness() {
    return native.agentHarness(this);
  }
  get model() {
    return native.agentModel(this);
  }
  get effort() {
    return native.agentEffort(this);
  }
  get capabilities() {
    return native.agentCapabilities(this);
  }
  can(capability) {
    return this.capabilities.includes(capability);
  }
  spawn(place) {
    return native.agentSpawn(this, place);
  }
  spawnMany(count, place) {
    return native.agentSpawnMany(this, count, place);
  }
  async run(prompt, options) {
    return answer(await abortable(signalOf(options), (stops) => native.agentRun(this, prompt, lowered(options), stops)));
  }
  start(prompt, options) {
    return native.agentStart(this, prompt, lowered(options));
  }
  async batch(prompts, options) {
    const said = await abortable(signalOf(options), (stops) => native.agentBatch(this, prompts, lowered(options), stops));
    return said.map((each) => (each instanceof FlowhostError ? each : answer(each)));
  }
  async pursue(objective, rounds, options) {
    return waited(native.agentPursue(this, objective, rounds, lowered(options)), signalOf(options));
  }
  startPursue(objective, rounds, options) {
    return native.agentPursue(this, objective, rounds, lowered(options));
  }
  derive(settings) {
    return native.agentDerive(this, settings);
  }
  watch(moments, options) {
    return native.agentWatch(this, moments, options);
  }
}

/** Waits for a turn that nobody else knows, and interrupts it when the signal aborts. */
async function waited(turn, signal) {
  const stop = () => turn.cancel();
  signal?.addEventListener("abort", stop);
  try {
    signal?.throwIfAborted();
    return await turn.wait({ signal });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** One conversation. */
export class Session {
  constructor() {
    made();
  }
  get id() {
    return native.sessionId(this);
  }
  get directory() {
    return native.sessionDirectory(this);
  }
  usage() {
    return native.sessionUsage(this);
  }
  async run(prompt, options) {
    return answer(
      await abortable(signalOf(options), (stops) => native.sessionRun(this, prompt, lowered(options), stops)),
    );
  }
  start(prompt, options) {
    return native.sessionStart(this, prompt, lowered(options));
  }
  async steer(words, mode) {
    await native.sessionSteer(this, words, mode);
  }
  async fork(at) {
    return await native.sessionFork(this, at);
  }
  close() {
    native.sessionClose(this);
  }
  [Symbol.dispose]() {
    this.close();
  }
}

/** A turn that was started. */
export class Turn {
  constructor() {
    made();
  }
  async wait(options) {
    return answer(await abortable(signalOf(options), (stops) => native.turnWait(this, stops)));
  }
  done() {
    return native.turnDone(this);
  }
  cancel() {
    native.turnCancel(this);
  }
}

/** A queue of occasions. */
export class Watch {
  constructor() {
    made();
  }
  async next(options) {
    const signal = signalOf(options);
    while (await abortable(signal, (stops) => native.watchReady(this, stops))) {
      // Another call may have taken it first.
      const occasion = native.watchTake(this);
      if (occasion !== null) return occasion;
    }
    return null;
  }
  take() {
    return native.watchTake(this);
  }
  close() {
    native.watchClose(this);
  }
  async *[Symbol.asyncIterator]() {
    for (;;) {
      const occasion = await this.next();
      if (occasion === null) return;
      yield occasion;
    }
  }
  [Symbol.dispose]() {
    this.close();
  }
}

/** Something that waits for the flow's answer. */
export class Occasion {
  constructor() {
    made();
  }
  get moment() {
    return native.occasionMoment(this);
  }
  get session() {
    return native.occasionSession(this);
  }
  get details() {
    return JSON.parse(native.occasionDetails(this));
  }
  allow() {
    native.occasionAllow(this);
  }
  block(reason) {
    native.occasionBlock(this, reason);
  }
  reply(text) {
    native.occasionReply(this, text);
  }
  skip() {
    native.occasionSkip(this);
  }
}
