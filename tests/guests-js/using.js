// Declares what the engine reads, and would not dispose of.
export const manifest = { agents: { agent: [] } };

export default async function disposes(task, cx) {
  using session = cx.agent("agent").spawn();
  return (await session.run(task)).text;
}
