// Hooks: what a session comes upon waits for the flow's answer.
import { sleep } from "flowhost";
import { ok, said } from "./words.js";

const ANSWERS = {
  allow: (occasion) => occasion.allow(),
  block: (occasion) => occasion.block("not here"),
  reply: (occasion) => occasion.reply("yes"),
  skip: (occasion) => occasion.skip(),
};

const watched = (cx, options) => cx.agent("worker").watch(["pre-tool-use"], options);

export default {
  async facts(cx) {
    const watch = watched(cx), session = cx.agent("worker").spawn();
    const turn = session.start("t0");
    const occasion = await watch.next();
    const facts = { moment: occasion.moment, session: occasion.session === session.id, details: occasion.details };
    occasion.allow();
    return { ...facts, text: await said(turn.wait()) };
  },

  async answer(cx) {
    const watch = watched(cx), turn = cx.agent("worker").start("t0");
    ANSWERS[cx.params.way](await watch.next());
    return await said(turn.wait());
  },

  async unanswered(cx) {
    const watch = watched(cx, { patienceMs: 20, unanswered: cx.params.way });
    const answer = await said(cx.agent("worker").run("t0"));
    watch.close();
    return answer;
  },

  async late(cx) {
    const watch = watched(cx, { patienceMs: 20 }), turn = cx.agent("worker").start("t0");
    const occasion = await watch.next();
    await sleep(50);
    const late = await ok(() => occasion.reply("yes"));
    return { turn: await said(turn.wait()), late };
  },

  async close(cx) {
    const watch = watched(cx), next = watch.next();
    await sleep(5);
    watch.close();
    const word = (occasion) => (occasion === null ? "none" : "some");
    return { next: word(await next), take: word(watch.take()) };
  },
};
