// What a flow learns of its call, and what it says.
import { log, nowMs, sleep } from "flowhost";

const left = (cx) => {
  const { turns, cost, outputTokens, durationMs } = cx.remaining();
  return { turns, cost, "output-tokens": outputTokens, "duration-ms": durationMs };
};

export default {
  facts({ runId: run, branchId: branch, path, params, resumed }) {
    return { run, branch, path, params, resumed };
  },

  async budget(cx) {
    await cx.agent("worker").run("t0");
    const { turns, cost, inputTokens, outputTokens, costSource } = cx.spent();
    return {
      spent: { turns, cost, "input-tokens": inputTokens, "output-tokens": outputTokens, "cost-source": costSource },
      left: left(cx),
    };
  },

  unlimited: left,

  async time() {
    const begin = nowMs();
    await sleep(3_600_000);
    return nowMs() - begin;
  },

  log() {
    log("naïve 👍 日本");
    log("two\nlines");
  },

  print() {
    console.log("printed 👍");
    console.error("and an error");
  },
};
