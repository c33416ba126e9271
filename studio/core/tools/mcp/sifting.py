"""Lists of a server, without the entries that do not keep the protocol.

The SDK refuses a whole list for one bad entry, which disables a server for one tool without
`inputSchema`. So the answer is looked at before the SDK sees it, and such entries are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from studio.core.tools.mcp.stream_around import ReadingAround

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.client._transport import ReadStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

_LISTS = {
    "tools": ("tools/list", "tool"),
    "prompts": ("prompts/list", "prompt"),
    "resources": ("resources/list", "resource"),
    "resourceTemplates": ("resources/templates/list", "template of resources"),
}
_LONGEST_NAME = 80


def without_bad_entries(
    result: Mapping[str, Any], version: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """An answer without the entries of its lists that cannot be read, and a sentence for each.

    Args:
        result: the answer as it came.
        version: the protocol's version that is spoken.
    """
    kept = dict(result)
    remarks: list[str] = []
    for key, (method, kind) in _LISTS.items():
        listed = kept.get(key)
        if not isinstance(listed, list) or not listed:
            continue
        if not _fault(method, version, kept, key):
            continue
        if _fault(method, version, {**kept, key: []}, key):
            continue  # it is not for an entry
        good = []
        for place, entry in enumerate(listed, 1):
            fault = _fault(method, version, {**kept, key: [entry]}, key)
            if not fault:
                good.append(entry)
                continue
            name = entry.get("name") if isinstance(entry, Mapping) else None
            shown = repr(str(name)[:_LONGEST_NAME]) if name else f"number {place}"
            remarks.append(f"{kind} {shown} is left out: {fault}")
        kept[key] = good
    return kept, tuple(remarks)


def _fault(method: str, version: str, result: Mapping[str, Any], key: str) -> str:
    """Why a list cannot be read, in a few words; empty where it can."""
    from mcp_types import methods
    from pydantic import ValidationError

    try:
        methods.parse_server_result(method, version, result)
    except KeyError:
        return ""  # a list that this version does not know
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        steps = [str(step) for step in first["loc"]]
        at = steps[steps.index(key) + 2 :] if key in steps else steps
        return f"{'.'.join(at)}: {first['msg']}" if at else first["msg"]
    except ValueError as error:
        return str(error)
    return ""


class SiftedStream(ReadingAround):
    """What a transport reads, with each answer sifted."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        version: Callable[[], str],
        remark: Callable[[str], None],
    ) -> None:
        """Wrap a stream.

        Args:
            inner: the transport's own.
            version: the version that is spoken, as far as that is settled.
            remark: told what was left out.
        """
        super().__init__(inner)
        self._version = version
        self._remark = remark

    def passed(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """The same, or an answer without its bad entries."""
        import mcp_types as types

        if isinstance(item, Exception):
            return item
        message: JSONRPCMessage = item.message
        if not isinstance(message, types.JSONRPCResponse):
            return item
        if not any(key in message.result for key in _LISTS):
            return item
        kept, remarks = without_bad_entries(message.result, self._version())
        if not remarks:
            return item
        for text in remarks:
            self._remark(text)
        return replace(item, message=message.model_copy(update={"result": kept}))
