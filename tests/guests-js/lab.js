// Does what its task says, a behaviour of the contract or of the engine each.
import * as flowhost from "flowhost";
import { fails } from "./shout.js";

const { gather, group, load, log, sleep, timeout, waitAny } = flowhost;

export const manifest = {
  agents: {
    worker: ["steer", "fork", "goal", "pre-tool-use", "question"],
    judge: { optional: true, capabilities: ["question"] },
  },
  envs: { workspace: { optional: true, capabilities: ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"] } },
  params: { type: "object", properties: { n: { type: "integer", default: 10 }, way: { type: "string" } } },
  loads: ["lab", "fanout", "nowhere"],
};

/** What an error is, as data. */
function facts(error) {
  const { name, kind, fault, message, retryAfterMs, limit, whose } = error;
  return { name, kind, fault, message, retryAfterMs, limit, whose };
}

/** What a promise comes to, as data. */
async function outcome(promise) {
  try {
    return await promise;
  } catch (error) {
    return facts(error);
  }
}

/** What calling a function comes to, as data. */
function caught(call) {
  try {
    return call() ?? null;
  } catch (error) {
    return facts(error);
  }
}

const texts = (answers) => answers.map(({ text }) => text);

const TASKS = {
  async params(cx) {
    const { runId, branchId, path, resumed, params } = cx;
    return { runId, branchId, path, resumed, params, spent: cx.spent().turns, left: cx.remaining() };
  },

  async agent(cx) {
    const { role, harness, capabilities } = cx.agent("worker");
    const none = cx.agentOpt("judge");
    return { role, harness, can: capabilities.length > 0, none, refused: caught(() => cx.agent("stranger")), empty: caught(() => cx.agent("judge")) };
  },

  // Many at once, each in a session of its own.
  async fan(cx) {
    const agent = cx.agent("worker");
    const sessions = agent.spawnMany(cx.params.n);
    const answers = await Promise.all(sessions.map((session, at) => session.run(`t${at}`)));
    return { last: answers.at(-1).text, turns: cx.spent().turns, distinct: new Set(texts(answers)).size };
  },

  async batch(cx) {
    const prompts = Array.from({ length: cx.params.n }, (_, at) => `t${at}`);
    const agent = cx.agent("worker");
    const kept = await agent.batch(prompts, { atOnce: 3, suppress: true });
    return { kept: kept.map((each) => each.fault ?? each.text), first: await outcome(agent.batch(prompts)) };
  },

  async busy(cx) {
    const session = cx.agent("worker").spawn();
    const first = session.run("t0");
    const second = await outcome(session.run("t1"));
    return [second, (await first).text];
  },

  async queue(cx) {
    const session = cx.agent("worker").spawn({ whenBusy: "queue" });
    return texts(await Promise.all([0, 1, 2, 3].map((at) => session.run(`t${at}`))));
  },

  async structured(cx) {
    const schema = { type: "object", properties: { good: { type: "boolean" } }, required: ["good"] };
    const { value, usage } = await cx.agent("worker").run("is it?", { schema, budget: { turns: 3 }, expectedCost: 0.1 });
    return { value, turns: usage.turns, source: usage.costSource };
  },

  async handles(cx) {
    const agent = cx.agent("worker");
    const turn = agent.start("t0");
    const before = turn.done();
    const ready = await waitAny([turn, agent.start("t1")]);
    const answers = await Promise.all([turn.wait(), turn.wait()]);
    return { before, ready, after: turn.done(), texts: texts(answers), nothing: await waitAny([], 5) };
  },

  async steer(cx) {
    const session = cx.agent("worker").spawn();
    const idle = await outcome(session.steer("left"));
    const never = await outcome(session.fork());
    const run = session.run("t0");
    await session.steer("left", "interrupting");
    const { text } = await run;
    const fork = await session.fork();
    return { idle: idle.fault, never: never.fault, text, fork: (await fork.run("t1")).text, apart: fork.id !== session.id };
  },

  async pursue(cx) {
    const agent = cx.agent("worker");
    const { text, usage } = await agent.pursue("make it good", 5);
    return { text, turns: usage.turns };
  },

  // A turn whose tool is blocked, and one whose question is answered.
  async watch(cx) {
    const agent = cx.agent("worker");
    const watch = agent.watch(["pre-tool-use"], { patienceMs: 5000, unanswered: "block" });
    const seen = [];
    const guard = (async () => {
      for await (const occasion of watch) {
        seen.push([occasion.moment, occasion.details, typeof occasion.session]);
        occasion.block("not here");
        seen.push(caught(() => occasion.allow()).fault);
      }
      return "closed";
    })();
    const { text } = await agent.run("t0");
    watch.close();
    return { text, seen, guard: await guard };
  },

  // A guard that nobody minds.
  async unanswered(cx) {
    const agent = cx.agent("worker");
    const watch = agent.watch(["pre-tool-use"], { patienceMs: 20, unanswered: "block" });
    const said = await outcome(agent.run("t0"));
    watch.close();
    return said;
  },

  async abort(cx) {
    const session = cx.agent("worker").spawn();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 10);
    const first = await outcome(session.run("slow", { signal: stop.signal }));
    const next = await session.run("t1");
    const gone = await outcome(session.run("t2", { signal: stop.signal }));
    const late = await outcome(session.run("slow", { signal: AbortSignal.timeout(10) }));
    return { first, next: next.text, gone: gone.name, late: late.name, after: (await session.run("t3")).text };
  },

  async cancel(cx) {
    const session = cx.agent("worker").spawn();
    const turn = session.start("slow");
    await sleep(5);
    turn.cancel();
    turn.cancel();
    return { turn: (await outcome(turn.wait())).fault, next: (await session.run("t1")).text };
  },

  async timeout(cx) {
    const session = cx.agent("worker").spawn();
    const late = await outcome(timeout(10, (signal) => session.run("slow", { signal })));
    const inTime = await timeout(5000, (signal) => session.run("t1", { signal }));
    const race = await Promise.race([cx.agent("worker").run("slow"), sleep(5).then(() => "the clock")]);
    return { late, inTime: inTime.text, race };
  },

  async group(cx) {
    const agent = cx.agent("worker");
    const turn = (prompt) => (signal) => agent.run(prompt, { signal });
    const all = texts(await group(["a", "b", "c"].map(turn), { atOnce: 2 }));
    const failed = await group(["a", "bad", "slow", "slow"].map(turn)).catch((error) => error);
    const { errors, answered, cancelled } = failed;
    const none = await outcome(group([]));
    return { all, failed: failed instanceof flowhost.GroupError, errors: errors.map(facts), answered, cancelled, none };
  },

  async gather(cx) {
    const agent = cx.agent("worker");
    let going = 0, peak = 0;
    const one = (at) => async () => {
      peak = Math.max(peak, (going += 1));
      const { text } = await agent.run(`t${at}`);
      going -= 1;
      return text;
    };
    function* many() {
      for (let at = 0; at < 9; at++) yield at === 4 ? Promise.reject(new Error("odd one")) : one(at);
    }
    const said = await gather(many(), { atOnce: 3 });
    return { peak, said: said.map(({ value, reason }) => value ?? reason.message), none: await gather([]) };
  },

  async env(cx) {
    const env = cx.env("workspace");
    await env.write("notes/ü.txt", "grüße");
    await env.append("notes/ü.txt", new Uint8Array([0x21]));
    await env.write("raw", new Uint8Array([0x63, 0xe9]));
    const ran = await env.exec(["printf", "hi"], { vars: { A: "b" }, stdin: "in", timeoutMs: 1000, keep: 100 });
    return {
      role: env.role,
      text: await env.readText("notes/ü.txt"),
      bytes: [...(await env.read("raw"))],
      range: [...(await env.readRange("raw", 1, 1))],
      notText: await outcome(env.readText("raw")),
      missing: await outcome(env.read("nowhere")),
      stat: await env.stat("raw"),
      found: (await env.find(".", "**/*.txt")).map(({ path }) => path),
      ran: { ...ran, success: ran.success(), bytes: ran.stdoutBytes().length },
      unknown: (await env.exec(["nonsense"])).status,
      checked: await outcome(env.exec(["nonsense"], { checked: true })),
      removed: await env.remove("raw").then(() => outcome(env.stat("raw"))),
    };
  },

  async call(cx) {
    const given = { agents: { worker: cx.agent("worker") } };
    const lab = await load("lab");
    const started = lab.start("sleepy", given);
    const stopped = lab.start("sleepy", { ...given, params: { n: 60000 } });
    const ready = await waitAny([stopped, started]);
    stopped.cancel();
    const stop = new AbortController();
    const aborted = outcome(lab.call("sleepy", { ...given, params: { n: 60000 }, signal: stop.signal }));
    await sleep(1);
    stop.abort("enough");
    return {
      name: lab.name,
      loads: lab.manifest.loads,
      path: (await lab.call("params", given)).path,
      started: await started.wait(),
      ready,
      stopped: (await outcome(stopped.wait())).fault,
      aborted: await aborted.catch?.(() => null),
      raised: await outcome(lab.call("raise", given)),
      threw: await outcome(lab.call("throw", given)),
      nowhere: await outcome(load("nowhere")),
      undeclared: await outcome(load("elsewhere")),
      unmet: await outcome(lab.call("params", {})),
    };
  },

  async sleepy(cx) {
    await sleep(cx.params.n);
    return "slept";
  },

  async raise() {
    throw new flowhost.HarnessError("slow down", { fault: "throttled", retryAfterMs: 1500 });
  },

  async throw() {
    await sleep(1);
    const settings = undefined;
    return settings.port;
  },

  async throwElsewhere() {
    return fails();
  },

  async throwString() {
    throw "words";
  },

  async uncaughtTurn(cx) {
    await cx.agent("worker").run("bad");
  },

  // Where a failed call was made, though it failed later.
  async stack(cx) {
    const error = await cx.agent("worker").run("bad").catch((error) => error);
    return { stack: error.stack, known: error instanceof flowhost.HarnessError && error instanceof flowhost.FlowhostError };
  },

  // Wrong arguments, all of which would end the flow at the border.
  async types(cx) {
    const agent = cx.agent("worker"), session = agent.spawn();
    const wrong = [
      () => session.run(42),
      () => session.run("t", { schemas: {} }),
      () => session.run("t", { budget: { turns: -1 } }),
      () => session.run("t", { budget: { grace: "soon" } }),
      () => session.run("t", { signal: {} }),
      () => Promise.resolve(agent.spawn({ at: {} })),
      () => Promise.resolve(agent.spawnMany(1.5)),
      () => Promise.resolve(agent.watch(["nonsense"])),
      () => agent.batch("one"),
      () => agent.batch(["one", 2]),
      () => waitAny([session]),
      () => sleep(-1),
      () => sleep(NaN),
      () => session.run.call({}, "t"),
      () => new Promise(() => new flowhost.Agent()),
      () => load(undefined),
    ];
    const said = [];
    for (const each of wrong) said.push(await (async () => each())().then(() => "nothing", ({ name, message }) => `${name}: ${message}`));
    return said;
  },

  async unicode(cx) {
    const torn = "👍".slice(0, 1);
    log(`torn ${torn}`, { ü: ["👍", null] });
    return { said: (await cx.agent("worker").run(`torn ${torn}`)).text, kept: "naïve 👍 日本" };
  },

  async large() {
    return "ü".repeat(2_500_000);
  },

  async deep() {
    const down = (n) => down(n + 1) + 1;
    return down(0);
  },

  async deepMap() {
    const down = (n) => [n].map((n) => down(n + 1))[0];
    return down(0);
  },

  // Through what the engine itself is written in, which takes more of the component's stack than a call does.
  async deepNative(cx) {
    const ways = {
      replace: (down, n) => "x".replace(/x/, () => down(n)),
      sort: (down, n) => [1, 2].sort(() => down(n)),
      json: (down, n) => JSON.stringify({ toJSON: () => down(n) }),
      revive: (down, n) => JSON.parse("[1]", () => down(n)),
      getter: (down, n) => ({ get x() { return down(n); } }).x,
      proxy: (down, n) => new Proxy({}, { get: () => down(n) }).x,
      construct: (down, n) => new (class { constructor() { this.x = down(n); } })(),
      spread: (down, n) => [...(function* () { yield down(n); })()],
      reduce: (down, n) => [1, 2].reduce(() => down(n)),
      apply: (down, n) => Reflect.apply(down, null, [n]),
      text: (down, n) => `${{ toString: () => down(n) }}`,
      from: (down, n) => Array.from([1], () => down(n)),
      species: (down, n) => [[1]].flatMap(() => down(n)),
      eval: (down, n) => new Function("down", "n", "return down(n)")(down, n),
    };
    const way = ways[cx.params.way];
    const down = (n) => way(down, n + 1);
    return down(0);
  },

  async deepData() {
    let data = [];
    for (let n = 0; n < 100; n++) data = [data];
    return data;
  },

  async globals() {
    const order = [];
    const timer = setInterval(() => order.push("interval"), 4);
    setTimeout((word) => order.push(word), 1, "timeout");
    const never = setTimeout(() => order.push("never"), 2);
    clearTimeout(never);
    queueMicrotask(() => order.push("microtask"));
    order.push("now");
    await sleep(14);
    clearInterval(timer);
    const intervals = order.filter((each) => each === "interval").length;
    const original = { a: [1, { b: new Map([["c", new Date(0)]]) }], e: new TypeError("x") };
    original.self = original;
    const copy = structuredClone(original);
    console.log("a", { b: [1, "c"] }, null, undefined, new Map([[1, new Set([2])]]), () => {});
    console.error(new TypeError("shown"));
    return {
      order: order.filter((each) => each !== "interval"),
      intervals: intervals >= 2,
      cloned: copy.self === copy && copy !== original && copy.a[1].b.get("c").getTime() === 0 && copy.e instanceof TypeError,
      encoded: [...new TextEncoder().encode("ü")],
      decoded: new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xbc])),
      fatal: caught(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))).name,
      time: performance.now() >= 0 && Date.now() > 0,
      any: AbortSignal.any([AbortSignal.abort("why")]).reason,
      nothing: [typeof process, typeof require, typeof fetch],
    };
  },

  // Failures that nobody waits for, and calls that are out at the end.
  async orphans(cx) {
    Promise.reject(new Error("nobody hears"));
    const heard = Promise.reject(new Error("heard in the end"));
    cx.agent("worker").run("slow");
    sleep(60_000).then(() => log("never"));
    await sleep(5);
    await heard.catch(() => {});
    return "left";
  },

  async stuck() {
    await new Promise(() => {});
  },

  async nothing() {},

  async cyclic() {
    const self = {};
    self.self = self;
    return self;
  },

  async bigint() {
    return { n: 1n };
  },

  async spins() {
    for (;;);
  },

  async gigabyte() {
    const all = [];
    for (;;) all.push(new Uint8Array(16 << 20));
  },
};

export default async function lab(task, cx) {
  const run = TASKS[task];
  if (run === undefined) throw new flowhost.FailedError(`the lab has no ${task}`);
  return await run(cx);
}
