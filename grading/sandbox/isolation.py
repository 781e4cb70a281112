"""The walls around a submission: what they are called, and what is raised when they fail."""

from __future__ import annotations

from dataclasses import dataclass

from insidebert.errors import CommandError


class SandboxUnavailable(CommandError):
    """No sandbox can be made here, or it broke while it was made."""


class KernelLost(Exception):
    """A kernel or its template went away without a word, which is not the submission's doing."""


@dataclass(frozen=True)
class Isolation:
    """How a submission is kept apart.

    Attributes:
        name: "bubblewrap", with "+landlock" and "+cgroup" where there are these too; "none" (only when asked for),
            or empty where none is possible.
        why: what is not as it could be, and why.
        cure: what to do about it.
        warm: kernels can be forked from a template, each in namespaces of its own.
    """

    name: str
    why: str = ""
    cure: str = ""
    warm: bool = False

    @property
    def missing(self) -> str:
        """What is not as it could be, and the cure; empty when all is well."""
        return ". ".join(part for part in (self.why, self.cure) if part)


NONE = Isolation("none", "submissions run with the rights of whoever grades")
