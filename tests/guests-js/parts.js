// A whole flow on several parts of the work at once.
import { load } from "flowhost";

export const manifest = {
  description: "Runs fanout on each line of the task, all of them at once.",
  agents: { agent: [] },
  envs: { workspace: ["shell"] },
  loads: ["fanout"],
};

export default async function parts(task, cx) {
  const given = { agents: { agent: cx.agent("agent") }, envs: { workspace: cx.env("workspace") } };
  const fanout = await load("fanout");
  const lines = task.split("\n").filter((line) => line.trim() !== "");
  return await Promise.all(lines.map((line) => fanout.call(line, { ...given, params: { "at-once": 2 } })));
}
