// Many, and large.
import { FailedError } from "flowhost";

const LARGE = 5_000_000;

export default {
  // A session a turn, all at once; how many gave their own answer.
  async turns(cx) {
    const sessions = cx.agent("worker").spawnMany(cx.params.n);
    const answers = await Promise.all(sessions.map((session, turn) => session.run(`say t${turn}`)));
    return answers.filter(({ text }, turn) => text === `t${turn}`).length;
  },

  unicode: async (cx) => (await cx.agent("worker").run("say naïve👍日本")).text,

  async large(cx) {
    const { text } = await cx.agent("worker").run(`say ${"x".repeat(LARGE)}`);
    if (text.length !== LARGE) throw new FailedError(`${text.length} characters came`);
    return text;
  },
};
