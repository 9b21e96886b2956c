// Two agents at the same time on one task: an actor and a reviewer.
export const manifest = {
  description: "An actor works on the task while a reviewer says what to look at in its work.",
  agents: ["actor", "reviewer"],
  envs: ["workspace"],
};

const REVIEW = "Another agent is working on the following task at this moment. Change nothing yourself. Say what a reviewer of its work \
should look at, and what could go wrong.";

export default async function pair(task, cx) {
  const acting = cx.agent("actor").spawn(), reviewing = cx.agent("reviewer").spawn();
  const [acted, reviewed] = await Promise.all([acting.run(task), reviewing.run(`${REVIEW}\n\n${task}`)]);
  return { actor: acted.text, reviewer: reviewed.text };
}
