"""What a kernel sends stays small enough to be read: an output that nobody would keep costs a note, not the kernel.

The other side hangs up on a larger message. This is for honest notebooks, whose pictures may be large; a submission
can get around it, and then meets that limit.
"""

from __future__ import annotations

from typing import Any

from jupyter_client.session import Session

_SHORT = 2_000  # characters that are left of an error's message
_NOTE = "the cell showed more at once than its outputs may hold; it is not kept\n"


class SmallSession(Session):
    """A session that replaces messages of more than `most` bytes."""

    most = 2**63

    def serialize(self, msg: dict[str, Any], ident: Any = None) -> list[bytes]:
        parts: list[bytes] = super().serialize(msg, ident)
        if sum(map(len, parts)) <= self.most:
            return parts
        return super().serialize(_instead(msg), ident)

    def send(self, stream: Any, msg_or_type: Any, *args: Any, **more: Any) -> Any:
        if sum(memoryview(buffer).nbytes for buffer in more.get("buffers") or ()) > self.most:
            more["buffers"] = None  # of a widget, which nobody will see
        return super().send(stream, msg_or_type, *args, **more)


def _instead(msg: dict[str, Any]) -> dict[str, Any]:
    """An error stays one, a reply stays one; anything else becomes a note."""
    content = msg.get("content") or {}
    if msg["msg_type"].endswith("_reply") or "ename" in content:
        kept = {key: content[key] for key in ("status", "execution_count", "ename") if key in content}
        if "ename" in content:
            kept |= {"evalue": str(content.get("evalue"))[:_SHORT], "traceback": []}
        return msg | {"content": kept | {"payload": [], "user_expressions": {}}, "metadata": {}}
    header = msg["header"] | {"msg_type": "stream"}
    return msg | {
        "header": header,
        "msg_type": "stream",
        "content": {"name": "stderr", "text": _NOTE},
        "metadata": {},
    }
