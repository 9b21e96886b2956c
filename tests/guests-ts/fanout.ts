// The task once per Python file, a session apiece, two at a time.
import { type Answer, type Context, type Manifest, type Outcome, gather, git, HarnessError, log } from "flowhost";

interface Params {
  "at-once": number;
}

export const manifest: Manifest = {
  description: "The task once per Python file that git knows, a session apiece, two at a time.",
  agents: { agent: [] },
  envs: { workspace: ["shell"] },
  params: {
    type: "object",
    properties: { "at-once": { type: "integer", minimum: 1, default: 2, description: "How many turns go at once." } },
  },
};

export default async function fanout(task: string, cx: Context): Promise<Record<string, string>> {
  const agent = cx.agent("agent"), workspace = cx.env("workspace");
  const listed = await workspace.exec(["git", "ls-files", "*.py"], { repeatable: true, checked: true });
  const files: string[] = git.names(listed.stdout);
  if (files.length === 0) log("git knows no Python files here");
  const turns = files.map((path) => async (): Promise<Answer> => {
    const session = agent.spawn();
    try {
      return await session.run(`${task}\n\nThe file is ${path}.`);
    } finally {
      session.close();
    }
  });
  const said: Outcome<Answer>[] = await gather<Answer>(turns, { atOnce: (cx.params as Params)["at-once"] });
  const answers: Record<string, string> = {};
  files.forEach((path, at) => {
    const { status, value, reason } = said[at]!;
    if (status === "fulfilled") answers[path] = value!.text;
    else if (reason instanceof HarnessError) log(`${path}: failed, ${reason.message}`);
    else throw reason;
  });
  return answers;
}
