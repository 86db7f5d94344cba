"""A real browser for the tests: Chromium without a window, spoken to over two pipes (the DevTools protocol)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe"
).split()
Event = dict[str, Any]


class Browser:
    """One Chromium with one open page; `events` holds all that the page reported since it was last opened."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        line = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", line, "bash", program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            command,
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._pending, self._number, self._session = b"", 0, ""
        self.events: list[Event] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in targets if page["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> Any:
        """Ask for one thing and wait for its answer; what the page reports meanwhile is kept."""
        self._number += 1
        message: Event = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> Event:
        while b"\0" not in self._pending:
            received = os.read(self._read, 1 << 20)
            assert received, "Chromium ended"
            self._pending += received
        first, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(first))

    def open(self, page: Path, *, width: int, dark: bool) -> None:
        """Open a file at a width, in light or dark, and wait until it has loaded and its charts are drawn."""
        self.call("Page.navigate", url="about:blank")
        while not self.value("location.href === 'about:blank' && document.readyState === 'complete'"):
            time.sleep(0.02)
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        address = page.resolve().as_uri()
        self.call("Page.navigate", url=address)
        ready = (
            f"location.href === {json.dumps(address)} && document.readyState === 'complete' && "
            "(document.documentElement.dataset.drawn === 'yes' || !document.querySelector('.chart') || "
            "!document.querySelector('script'))"  # a page without a script has pictures
        )
        for _ in range(1000):
            if self.value(ready):
                return
            time.sleep(0.02)
        raise AssertionError(f"{page} was not drawn: {self.complaints()}")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives in the page."""
        reply = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings in the console, and exceptions that nobody caught."""
        found = []
        for event in self.events:
            details = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(details["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
                found.append(str(details["args"]))
            elif event["method"] == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(str(details["entry"]))
        return found

    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        addresses = [str(event["params"]["request"]["url"]) for event in asked]
        return [address for address in addresses if not address.startswith("data:font/woff2;")]  # fonts inside the page

    def screenshot(self, target: Path) -> Path:
        """The whole page as a picture."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        target.write_bytes(base64.b64decode(shot["data"]))
        return target

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where a screenshot is kept: the folder in MARGINFLOW_SCREENSHOTS, or a temporary one."""
    named = os.environ.get("MARGINFLOW_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return lambda name: folder / f"{name}.png"
