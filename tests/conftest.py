"""What every test stands on: one thread, no network, and a home that is thrown away.

The environment is set when pytest reads this file, before any test module imports a library,
because OpenMP, huggingface_hub and Jupyter read their variables once. Subprocesses inherit it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_SCRATCH = tempfile.TemporaryDirectory(prefix="insidebert-tests-", ignore_cleanup_errors=True)


def _use(name: str) -> str:
    """A directory in this run's scratch space."""
    path = Path(_SCRATCH.name, name)
    path.mkdir()
    return str(path)


os.environ |= {
    # Several workers share the cores; a second thread in each only makes them wait for one another.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "PYTHONUTF8": "1",
    "MPLBACKEND": "agg",
    "INSIDEBERT_PROGRESS": str(Path(_SCRATCH.name, "progress.json")),
    # Whatever the person running the tests has configured must not change what they find.
    "JUPYTER_CONFIG_DIR": _use("jupyter-config"),
    "JUPYTER_DATA_DIR": _use("jupyter-data"),
    "JUPYTER_RUNTIME_DIR": _use("jupyter-runtime"),
    "IPYTHONDIR": _use("ipython"),
    "JUPYTER_PLATFORM_DIRS": "1",
}


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    """Keeps torch at one thread where a test has imported it; imports it for nobody."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    yield


def pytest_unconfigure() -> None:
    _SCRATCH.cleanup()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working tree."""
    return Path(__file__).parents[1]


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAC_BROWSER = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; each test opens tabs of its own."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, BROWSERS)), MAC_BROWSER)
    assert Path(chromium).exists(), "there is no Chromium; `make test` installs it, or names what to install"
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab for JupyterLab, of a browser profile that has never been used, with patience for a busy machine."""
    from playwright.sync_api import expect

    from tests.lab_server import PATIENCE

    expect.set_options(timeout=PATIENCE * 1000)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """The course's own; a module whose tests want another defines one of that name."""
    from insidebert.sources import load_tokenizer

    return load_tokenizer(offline=True)
