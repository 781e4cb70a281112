"""What one submission may use."""

from __future__ import annotations

from dataclasses import dataclass

_MiB, _GiB = 2**20, 2**30


@dataclass(frozen=True)
class Limits:
    """The limits of one submission's execution.

    Attributes:
        cell_seconds: for one cell. The course's own set-up cells get `setup_factor` times as much, because they
            import torch where no warm kernel has done so.
        total_seconds: for the whole notebook, every new start included.
        start_seconds: for the kernel to answer at all.
        patience: these are seconds in which the kernel could run. Where others have the cores it waits, and may take
            up to so many times as long by the clock.
        memory_bytes: of the kernel and all processes it starts, together and each.
        processes: at one time, threads included.
        file_bytes: of any one file.
        scratch_bytes: of the scratch folder, which is also /tmp, and once more of shared memory.
        open_files: descriptors of a process.
        output_bytes: that a cell's outputs may keep; the rest is thrown away. The evidence of a graded cell's check
            comes on top.
        message_bytes: of one message of the kernel's.
    """

    cell_seconds: float = 60
    setup_factor: float = 4
    total_seconds: float = 300
    start_seconds: float = 60
    patience: float = 4
    memory_bytes: int = 4 * _GiB
    processes: int = 64
    file_bytes: int = 64 * _MiB
    scratch_bytes: int = 128 * _MiB
    open_files: int = 256
    output_bytes: int = 1 * _MiB
    message_bytes: int = 12 * _MiB

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"Limits.{name} is {value!r}; a limit is a number above 0.")

    @property
    def longest_seconds(self) -> float:
        """That a notebook may take by the clock, whatever others do on the machine."""
        return self.total_seconds * self.patience
