// Conversations, and turns in them.
import { sleep } from "flowhost";
import { ok, said } from "./words.js";

export default {
  async facts(cx) {
    const session = cx.agent("worker").spawn();
    await session.run("one");
    return { id: session.id, directory: session.directory, turns: session.usage().turns };
  },

  async run(cx) {
    const session = cx.agent("worker").spawn();
    return [await said(session.run("one")), await said(session.run("two"))];
  },

  async schema(cx) {
    const schema = { type: "object", properties: { good: { type: "boolean" } }, required: ["good"] };
    return (await cx.agent("worker").spawn().run("is it?", { schema })).value;
  },

  "turn-budget": (cx) => said(cx.agent("worker").spawn().run("one", { budget: { durationMs: 1, grace: "cut" } })),

  async busy(cx) {
    const session = cx.agent("worker").spawn();
    const first = session.run("later");
    return { second: await said(session.run("second")), first: await said(first) };
  },

  queue(cx) {
    const session = cx.agent("worker").spawn({ whenBusy: "queue" });
    return Promise.all([0, 1, 2, 3].map((turn) => said(session.run(`t${turn}`))));
  },

  async close(cx) {
    const session = cx.agent("worker").spawn();
    const turn = session.start("slow");
    await sleep(5);
    session.close();
    return await said(turn.wait());
  },

  closed(cx) {
    const session = cx.agent("worker").spawn();
    session.close();
    return ok(() => session.run("next"));
  },

  async steer(cx) {
    const session = cx.agent("worker").spawn();
    const turn = session.start("later");
    await sleep(5);
    await session.steer("left");
    await session.steer("right", "interrupting");
    return await said(turn.wait());
  },

  idle: (cx) => ok(cx.agent("worker").spawn().steer("left")),

  async fork(cx) {
    const session = cx.agent("worker").spawn();
    await session.run("one");
    const fork = await session.fork();
    return { fork: await said(fork.run("two")), apart: fork.id !== session.id };
  },

  "never-ran": (cx) => ok(cx.agent("worker").spawn().fork()),

  async "refused-dir"(cx) {
    const agent = cx.agent("worker");
    return { nowhere: await ok(() => agent.spawn("nowhere")), above: await ok(() => agent.spawn("../elsewhere")) };
  },

  place(cx) {
    const agent = cx.agent("worker"), env = cx.env("workspace");
    return { env: agent.spawn(env).directory, directory: agent.spawn({ at: env, directory: "src" }).directory };
  },

  "let-go": (cx) => said(cx.agent("worker").spawn().start("later").wait()),

  async keep(cx) {
    const session = cx.agent("worker").spawn();
    session.start("later");
    await sleep(100);
    return session.usage().turns;
  },

  async leave(cx) {
    for (const session of cx.agent("worker").spawnMany(2)) session.start("slow");
    await sleep(5);
    return "left";
  },
};
