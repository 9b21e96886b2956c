// The contract in JavaScript: the task is `FAMILY/CASE`, and what it answers is what the scenarios of the folder above expect of every language.
import { FailedError } from "flowhost";
import agents from "./agents.js";
import context from "./context.js";
import envs from "./envs.js";
import errors from "./errors.js";
import flows from "./flows.js";
import scale from "./scale.js";
import sessions from "./sessions.js";
import waiting from "./waiting.js";
import watches from "./watches.js";

export const manifest = {
  name: "conformance",
  description: "Does what the task says, a case of the contract each.",
  hidden: true,
  agents: {
    worker: ["steer", "fork", "goal", "pre-tool-use"],
    judge: { optional: true },
  },
  envs: { workspace: { optional: true, capabilities: ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"] } },
  params: { type: "object", properties: { n: { type: "integer", default: 4 }, way: { type: "string", default: "" } } },
  loads: ["itself", "other", "nowhere"],
};

const FAMILIES = { agents, context, envs, errors, flows, scale, sessions, waiting, watches };

export default async function conformance(task, cx) {
  const [family, name] = task.split("/");
  const run = FAMILIES[family]?.[name];
  if (run === undefined) throw new FailedError(`there is no case "${task}"`);
  return await run(cx);
}
