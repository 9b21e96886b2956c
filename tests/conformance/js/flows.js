// Flows that call flows.
import * as flowhost from "flowhost";
import { ok } from "./words.js";

const { FlowError, load, sleep } = flowhost;

/** Errors of the flow's own making, in the order of the contract's kinds; then faults that nothing else comes to. */
const RAISED = {
  session: () => new flowhost.SessionError("made here", { fault: "busy" }),
  harness: () => new flowhost.HarnessError("made here", { fault: "throttled", retryAfterMs: 1500 }),
  env: () => new flowhost.EnvError("made here", { fault: "denied" }),
  requirement: () => new flowhost.RequirementError("made here"),
  "not-granted": () => new flowhost.NotGrantedError("made here"),
  flow: () => new FlowError("made here", { fault: "bad-ref" }),
  failed: () => new flowhost.FailedError("made here"),
  other: () => new flowhost.OtherError("made here"),
  "session-other": () => new flowhost.SessionError("made here", { fault: "other" }),
  "flow-other": () => new FlowError("made here", { fault: "other" }),
};

const worker = (cx, params = {}) => ({ agents: { worker: cx.agent("worker") }, params });

export default {
  async facts() {
    const { name, manifest } = await load("itself");
    return { name, roles: manifest.agents.map(({ name }) => name) };
  },

  async call(cx) {
    const callee = await load(cx.params.way);
    return await callee.call("flows/called", { ...worker(cx, { n: 9 }), envs: { workspace: cx.env("workspace") } });
  },

  // What `call` calls.
  async called(cx) {
    const turn = await cx.agent("worker").run("the word");
    return { path: cx.path, n: cx.params.n, turn: turn.text, read: await cx.env("workspace").readText("a.txt") };
  },

  async raised(cx) {
    const itself = await load("itself"), all = [];
    for (const way of Object.keys(RAISED)) all.push(await ok(itself.call("flows/raise", worker(cx, { way }))));
    return all;
  },

  raise(cx) {
    throw RAISED[cx.params.way]();
  },

  async branch(cx) {
    const itself = await load("itself");
    const [slept, cancelled] = [10, 60_000].map((n) => itself.start("flows/sleep", worker(cx, { n })));
    const before = slept.done();
    const said = await slept.wait();
    cancelled.cancel();
    const end = await ok(cancelled.wait());
    return { before, slept: said, cancelled: end, after: cancelled.done() };
  },

  async sleep(cx) {
    await sleep(cx.params.n);
    return "slept";
  },

  async budget(cx) {
    const call = (await load("itself")).call("flows/spend", { ...worker(cx), budget: { turns: 1 } });
    const whose = await call.catch(({ whose }) => whose);
    return { called: await ok(call), whose: whose === `${cx.branchId}.1` };
  },

  async spend(cx) {
    for (let turn = 0; turn < 2; turn++) await cx.agent("worker").run("t");
  },

  missing: async () => ({ nowhere: await ok(load("nowhere")), undeclared: await ok(load("undeclared")) }),

  unmet: async () => ok((await load("itself")).call("flows/sleep")),

  trapped: async (cx) => ok((await load("other")).call("errors/trap", worker(cx))),

  // Calls itself until it cannot, and gives how deep that was.
  async deep(cx) {
    try {
      return await (await load("itself")).call("flows/deep", worker(cx));
    } catch (error) {
      if (error instanceof FlowError && error.fault === "too-deep") return `${cx.path.length} flow too-deep`;
      throw error;
    }
  },

  exceeded: (cx) => ok(() => cx.agent("worker").spawnMany(1000)),
};
