"""Outcomes in the contract's words."""

import inspect

from flowhost import FlowhostError


def words(error):
    """Its kind, its fault where it has one, and when to try again where it is known."""
    said = [error.kind, getattr(error, "fault", None) or getattr(error, "limit", None)]
    if getattr(error, "retry_after", None) is not None:
        said.append(f"{error.retry_after * 1000:.0f}")
    return " ".join(word for word in said if word)


async def said(turn):
    """What a turn comes to: what was said, or the words of its error."""
    try:
        return (await turn).text
    except FlowhostError as error:
        return words(error)


async def ok(call, *arguments, **named):
    """`ok`, or the words of the error that a call fails with."""
    try:
        outcome = call(*arguments, **named)
        if inspect.isawaitable(outcome):
            await outcome
        return "ok"
    except FlowhostError as error:
        return words(error)
