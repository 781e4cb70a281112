"""The GPU benchmark: refuses without a GPU, and goes all the way on a CPU with tiny shapes."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(repository / "benchmarks" / "gpu.py"), *arguments],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_without_a_gpu_it_says_so(repository):
    process = run(repository)
    assert process.returncode == 2
    assert "GPU" in process.stderr and "Traceback" not in process.stderr
    assert process.stdout == ""


@pytest.mark.slow
def test_end_to_end_on_a_cpu(repository, tmp_path):
    path = tmp_path / "gpu.json"
    process = run(repository, "--device", "cpu", "--small", "--json", str(path))
    assert process.returncode == 0, process.stderr
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["masking"].keys() == {"token", "word", "span"}
    rows = [row for part in ("masking", "pretraining", "fine_tuning") for row in result[part].values()]
    assert len(rows) == 5
    for row in rows:
        assert all(math.isfinite(value) and value >= 0 for value in row.values())
        assert row["ratio"] == pytest.approx(row["ours"] / row["reference"])
    for part in ("pretraining", "fine_tuning"):
        for row in result[part].values():
            assert 0 < row["ours_peak_gib"] < row["reference_peak_gib"]
            faster = row["ours_utilisation"] / row["reference_utilisation"]
            assert faster == pytest.approx(row["ratio"]), "both sides are credited with the same useful work"
    assert result["pretraining"]["4x32"]["loss_difference"] < 1e-5
    assert "pretraining" in process.stdout
