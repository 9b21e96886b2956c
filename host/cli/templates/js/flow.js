// One agent on each line of the task.
import { gather, HarnessError, log } from "flowhost";

export const manifest = {
  name: "{{name}}",
  description: "Asks one agent about each line of the task, two lines at a time.",
  agents: { agent: [] },
  envs: { workspace: [] },
};

export default async function run(task, cx) {
  const agent = cx.agent("agent");
  const lines = task.split("\n").filter((line) => line.trim() !== "");
  const said = await gather(lines.map((line) => () => agent.run(line)), { atOnce: 2 });
  return said.map(({ value, reason }, at) => {
    if (value) return value.text;
    // One that failed does not take the others with it.
    if (!(reason instanceof HarnessError)) throw reason;
    log(`${lines[at]}: failed, ${reason.message}`);
    return null;
  });
}
