// The task once per Python file, until one fails.
import { git, group, GroupError, log } from "flowhost";

export const manifest = {
  name: "first-failure",
  description: "The task once per Python file that git knows; at the first failure the rest is cancelled.",
  agents: { agent: [] },
  envs: { workspace: ["shell"] },
  params: {
    type: "object",
    properties: { "at-once": { type: "integer", minimum: 1, default: 2, description: "How many turns go at once." } },
  },
};

export default async function firstFailure(task, cx) {
  const agent = cx.agent("agent"), workspace = cx.env("workspace");
  const listed = await workspace.exec(["git", "ls-files", "*.py"], { repeatable: true, checked: true });
  const files = git.names(listed.stdout);
  const turns = files.map((path) => async (signal) => {
    const session = agent.spawn();
    try {
      return await session.run(`${task}\n\nThe file is ${path}.`, { signal });
    } finally {
      session.close();
    }
  });
  try {
    const said = await group(turns, { atOnce: cx.params["at-once"] });
    return Object.fromEntries(files.map((path, at) => [path, said[at].text]));
  } catch (failures) {
    if (failures instanceof GroupError) {
      const { errors, answered, cancelled } = failures;
      log(`${errors.length} failed, ${answered} answered, ${cancelled} cancelled`);
    }
    throw failures;
  }
}
