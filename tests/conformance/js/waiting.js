// Handles, waiting, and cancelling.
import { gather, group, load, sleep, timeout, waitAny } from "flowhost";
import { said, words } from "./words.js";

export default {
  async turn(cx) {
    const turn = cx.agent("worker").start("later");
    const before = turn.done();
    const wait = await said(turn.wait());
    return { before, wait, after: turn.done(), again: await said(turn.wait()) };
  },

  async cancel(cx) {
    const session = cx.agent("worker").spawn();
    const turn = session.start("slow");
    await sleep(10);
    turn.cancel();
    turn.cancel();
    const next = await said(session.run("next"));
    return { turn: await said(turn.wait()), again: await said(turn.wait()), next };
  },

  async any(cx) {
    const turns = ["later", "soon"].map((prompt) => cx.agent("worker").start(prompt));
    const left = [0, 1], ended = [];
    while (left.length > 0) {
      const ready = await waitAny(left.map((at) => turns[at]));
      for (const place of ready.reverse()) ended.push(...left.splice(place, 1));
    }
    return ended;
  },

  async "any-timeout"(cx) {
    const nothing = await waitAny([]);
    const turn = cx.agent("worker").start("slow");
    const late = await waitAny([turn], 20);
    turn.cancel();
    return { nothing, late };
  },

  // A branch that sleeps 10 ms, a turn of 50 ms, a process of a second, and a watch that nothing comes of: by three waits, the first of them
  // for all, each after it without what was ready.
  async "any-mixed"(cx) {
    const agent = cx.agent("worker"), env = cx.env("workspace");
    const watch = agent.watch(["pre-tool-use"]);
    const turn = agent.start("later");
    const process = env.start(["sleep", "1"]);
    const branch = (await load("itself")).start("flows/sleep", { agents: { worker: agent } });
    const first = await waitAny([turn, process, branch, watch]);
    const second = await waitAny([turn, process, watch]);
    const third = await waitAny([watch, process]);
    return { first, second, third };
  },

  async "cancel-task"(cx) {
    const session = cx.agent("worker").spawn();
    const stop = new AbortController();
    const task = session.run("slow", { signal: stop.signal }).then(() => false, ({ name }) => name === "AbortError");
    await sleep(10);
    stop.abort();
    return { stopped: await task, next: await said(session.run("next")) };
  },

  async timeout(cx) {
    const session = cx.agent("worker").spawn();
    const late = await timeout(10, (signal) => session.run("slow", { signal })).then(() => false, ({ name }) => name === "TimeoutError");
    return { late, next: await said(session.run("next")) };
  },

  race: (cx) => Promise.race([said(cx.agent("worker").run("slow")), sleep(10).then(() => "clock")]),

  async group(cx) {
    const turns = ["slow", "bad", "slow"].map((prompt) => (signal) => cx.agent("worker").run(prompt, { signal }));
    return await group(turns).catch(({ errors, cancelled }) => ({ error: words(errors[0]), cancelled }));
  },

  async gather(cx) {
    const turns = ["t0", "bad", "t2", "t3"].map((prompt) => () => cx.agent("worker").run(prompt));
    return (await gather(turns, { atOnce: 2 })).map(({ value, reason }) => value?.text ?? words(reason));
  },

  async "drop-wait"(cx) {
    const turn = cx.agent("worker").start("later");
    await timeout(1, (signal) => turn.wait({ signal })).catch(() => {});
    return await said(turn.wait());
  },
};
