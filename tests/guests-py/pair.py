"""Two agents at the same time on one task: an actor and a reviewer."""

import asyncio

from flowhost import Context, flow

REVIEW = (
    "Another agent is working on the following task at this moment. Change nothing yourself. Say what a reviewer of its work should "
    "look at, and what could go wrong."
)


@flow(agents=["actor", "reviewer"], envs=["workspace"])
async def pair(task: str, cx: Context) -> dict[str, str]:
    """An actor works on the task while a reviewer says what to look at in its work."""
    acting, reviewing = cx.agent("actor").spawn(), cx.agent("reviewer").spawn()
    acted, reviewed = await asyncio.gather(acting.run(task), reviewing.run(f"{REVIEW}\n\n{task}"))
    return {"actor": acted.text, "reviewer": reviewed.text}
