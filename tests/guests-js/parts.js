// A whole flow on several parts of the work at once.
import { load } from "flowhost";

export const manifest = {
  description: "Runs fanout on each line of the task, all of them at once.",
  agents: { agent: [] },
  envs: { workspace: ["shell"] },
  loads: ["fanout"],
  params: {
    type: "object",
    properties: { "at-once": { type: "integer", minimum: 1, default: 2, description: "How many turns of each part go at once." } },
  },
};

export default async function parts(task, cx) {
  const given = {
    agents: { agent: cx.agent("agent") },
    envs: { workspace: cx.env("workspace") },
    params: { "at-once": cx.params["at-once"] },
  };
  const fanout = await load("fanout");
  const lines = task.split("\n").filter((line) => line.trim() !== "");
  return await Promise.all(lines.map((line) => fanout.call(line, given)));
}
