"""What a person's hands do on JupyterLab's page: open a notebook, choose from a menu, write into a cell, run it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.lab_server import PATIENCE, TOKEN, LabServer


def open_notebook(page: Page, server: LabServer, path: str) -> None:
    """Opens a notebook, and none of those that were open before, and waits until it can be run."""
    page.goto(f"{server.url}/lab/tree/{path}?token={TOKEN}&reset")
    wait_for_notebook(page, server, path)


def wait_for_notebook(page: Page, server: LabServer, path: str) -> None:
    """Waits until server and page have a notebook's kernel connected and idle: what is run before that is lost."""
    panel = page.locator(".jp-NotebookPanel:visible")
    panel.locator(".jp-Notebook").wait_for()

    def ready() -> bool:
        kernel = kernel_of(server, path)
        return bool(kernel and kernel["connections"] and kernel["execution_state"] == "idle")

    wait_until(ready)
    expect(panel.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle")


def kernel_of(server: LabServer, path: str) -> dict[str, Any] | None:
    """What the server says of a notebook's kernel."""
    sessions = server.ask("/api/sessions")
    return next((session["kernel"] for session in sessions if session["path"] == path), None)


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks again until it is so.

    Raises:
        TimeoutError: it was not so in time.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{condition.__qualname__} was not so within {PATIENCE} s")
        time.sleep(0.1)


def open_lab(page: Page, server: LabServer) -> None:
    """Opens JupyterLab on its launcher, with nothing that was open before."""
    page.goto(f"{server.url}/lab?token={TOKEN}&reset")


def open_in_browser(page: Page, *names: str) -> None:
    """Goes down the file browser, folder by folder, and opens what the last name is of."""
    for name in names:
        page.locator(".jp-DirListing-item").get_by_text(name, exact=True).dblclick()


def choose(page: Page, menu: str, item: str) -> None:
    """Chooses from a menu; of an item the beginning is enough, as `Restart Kernel…` has its dots."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{re.escape(item)}…?$")).click()


def cell(page: Page, text: str) -> Locator:
    """The first code cell with this text, of the notebook in front."""
    return page.locator(".jp-NotebookPanel:visible .jp-CodeCell", has_text=text).first


def fill(page: Page, at: Locator, code: str) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def run(page: Page, at: Locator) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
