"""What something comes to, as data."""

from typing import Any, Awaitable, Callable


def facts(error: BaseException) -> dict[str, Any]:
    """What an error is."""
    known = ("kind", "fault", "limit", "whose", "retry_after")
    said = {name: getattr(error, name) for name in known if getattr(error, name, None) is not None}
    return {"name": type(error).__name__, "message": str(error), **said}


async def outcome(awaitable: Awaitable[Any]) -> Any:
    """What waiting for it comes to."""
    try:
        return await awaitable
    except Exception as error:
        return facts(error)


def caught(call: Callable[[], Any]) -> Any:
    """What calling it comes to."""
    try:
        return call()
    except Exception as error:
        return facts(error)
