"""Flows in Python: programs that steer coding agents.

>>> import flowhost                                                                      # doctest: +SKIP
>>> @flowhost.flow(agents=["agent"], envs={"workspace": "shell"})
... async def survey(task, cx):
...     '''Asks one agent about each line of the task, two at a time.'''
...     agent = cx.agent("agent")
...     return [answer.text for answer in await agent.batch(task.splitlines(), at_once=2)]
"""

from . import git
from .agents import Agent, Answer, Permission, Session, Turn
from .budget import Allowance, Budget, Usage
from .callees import Branch, Callee, load
from .context import Context, log, now
from .declaration import Flow, flow
from .envs import Entry, Env, MergeOutcome, Output, Process
from .errors import (
    BudgetError,
    EnvError,
    FailedError,
    FlowError,
    FlowhostError,
    HarnessError,
    NotGrantedError,
    OtherError,
    RequirementError,
    SessionError,
    StoppedError,
)
from .waiting import gather, sleep, wait_any
from .watches import MOMENTS, Moment, Occasion, Watch

__all__ = [
    "MOMENTS",
    "Agent",
    "Allowance",
    "Answer",
    "Branch",
    "Budget",
    "BudgetError",
    "Callee",
    "Context",
    "Entry",
    "Env",
    "EnvError",
    "FailedError",
    "Flow",
    "FlowError",
    "FlowhostError",
    "HarnessError",
    "MergeOutcome",
    "Moment",
    "NotGrantedError",
    "Occasion",
    "OtherError",
    "Output",
    "Permission",
    "Process",
    "RequirementError",
    "Session",
    "SessionError",
    "StoppedError",
    "Turn",
    "Usage",
    "Watch",
    "flow",
    "gather",
    "git",
    "load",
    "log",
    "now",
    "sleep",
    "wait_any",
]
