// Errors as a flow sees them, and those that it causes.
import { StoppedError } from "flowhost";
import { words } from "./words.js";

const facts = ({ kind, fault, message }) => ({ kind, fault, message });

export default {
  turn: (cx) => cx.agent("worker").run("t0").catch(facts),

  exec: (cx) => cx.env("workspace").exec(["run"]).catch(facts),

  "retry-after": (cx) => cx.agent("worker").run("t0").catch(({ retryAfterMs }) => retryAfterMs),

  // Turn after turn, until one is not taken.
  async spend(cx) {
    const session = cx.agent("worker").spawn();
    for (;;) {
      try {
        await session.run("t");
      } catch (error) {
        return { error: words(error), whose: error.whose === cx.branchId };
      }
    }
  },

  // Asks on after a stop.
  async "go-on"(cx) {
    const session = cx.agent("worker").spawn();
    for (;;) {
      const failed = await session.run("t").then(() => false, () => true);
      if (!failed) return "went on";
    }
  },

  "claims-stopped"() {
    throw new StoppedError("it was stopped");
  },

  "uncaught-turn": async (cx) => (await cx.agent("worker").run("t0")).text,

  bug() {
    const settings = undefined;
    return settings.port;
  },

  recursion() {
    const down = (depth) => down(depth + 1) + 1;
    return down(0);
  },

  spin() {
    for (;;);
  },

  hoard() {
    const all = [];
    for (;;) all.push(new Uint8Array(16 << 20));
  },
};
