"""What a person's hands do on JupyterLab's page: open a notebook, choose from a menu, write into a cell, run it."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Locator, Page

from tests.lab_server import PATIENCE, TOKEN, LabServer


def open_notebook(page: Page, server: LabServer, path: str) -> None:
    """Opens a notebook and waits until its kernel is connected and idle: what is run before that is lost."""
    page.goto(f"{server.url}/lab/tree/{path}?token={TOKEN}")
    page.locator(".jp-Notebook").wait_for()

    def ready() -> bool:
        kernels = [session["kernel"] for session in server.ask("/api/sessions") if session["path"] == path]
        return any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels)

    wait_until(ready)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the kernel did not get ready"
        time.sleep(0.1)


def choose(page: Page, menu: str, item: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def cell(page: Page, text: str) -> Locator:
    return page.locator(".jp-CodeCell", has_text=text).first


def fill(page: Page, at: Locator, code: str) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def run(page: Page, at: Locator) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
