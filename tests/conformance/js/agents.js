// Agents by role, and the turns that need no session.
import { ok, said, words } from "./words.js";

const SOME = ["t0", "this is bad", "t2"];

/** The role of what was given, or the words of the error. */
function role(given) {
  try {
    return given().role;
  } catch (error) {
    return words(error);
  }
}

export default {
  facts(cx) {
    const agent = cx.agent("worker");
    return { role: agent.role, harness: agent.harness, model: agent.model, effort: agent.effort, steer: agent.can("steer") };
  },

  roles(cx) {
    return {
      given: role(() => cx.agent("worker")),
      optional: cx.agentOpt("judge")?.role ?? "none",
      empty: role(() => cx.agent("judge")),
      unknown: role(() => cx.agent("stranger")),
    };
  },

  "spawn-many": (cx) => new Set(cx.agent("worker").spawnMany(cx.params.n).map(({ id }) => id)).size,

  run: (cx) => said(cx.agent("worker").run("the word")),

  async batch(cx) {
    const prompts = Array.from({ length: cx.params.n }, (_, turn) => `t${turn}`);
    const answers = await cx.agent("worker").batch(prompts, { atOnce: 2 });
    return answers.map(({ text }) => text);
  },

  async "batch-suppress"(cx) {
    const outcomes = await cx.agent("worker").batch(SOME, { suppress: true });
    return outcomes.map((each) => each.text ?? words(each));
  },

  "batch-fails": (cx) => ok(cx.agent("worker").batch(SOME)),

  async pursue(cx) {
    const { usage } = await cx.agent("worker").pursue("make it good", 5);
    return { turns: usage.turns };
  },

  async derive(cx) {
    const agent = cx.agent("worker");
    return {
      narrower: agent.derive({ permission: { workdir: "read" } }).role,
      dearer: await ok(() => agent.derive({ model: "dearest" })),
    };
  },

  "watch-undeclared": (cx) => ok(() => cx.agent("worker").watch(["session-end"])),
};
