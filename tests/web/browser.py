"""A real browser: headless Chromium, driven through its own debugging protocol."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from websockets.sync.client import ClientConnection, connect

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ),
    *(
        "--remote-debugging-port=0",
        "--window-size=1440,900",
        "--disable-extensions",
        "--disable-default-apps",
    ),
)
_SECONDS = 60.0
_KEYS = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    " ": 32,
}


class Browser:
    """One page of a browser. `problems` collects errors of scripts and the console, `requests` the addresses asked for."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self.problems: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser for something and wait for it."""
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=_SECONDS))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(about["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(str(about["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {about}")

    def go(self, url: str) -> None:
        """Open a page anew and wait until it is there."""
        for address in ("about:blank", url):
            self.call("Page.navigate", url=address)
            scheme = address.partition(":")[0]
            self.wait(f"document.readyState === 'complete' && location.href.startsWith('{scheme}:')")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        end = time.monotonic() + _SECONDS
        while not self.run(f"!!({script})"):
            assert time.monotonic() < end, f"never true: {script}; problems: {self.problems}"
            time.sleep(0.05)

    def text(self, selector: str) -> str:
        """The text that a reader sees in an element."""
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector: str) -> None:
        """Click the middle of the first part of an element with the mouse."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press keys one after another: names of special keys, or characters."""
        for key in keys:
            about: dict[str, Any] = {"key": key, "modifiers": 8 if shift else 0}
            about["windowsVirtualKeyCode"] = _KEYS.get(key) or ord(key.upper())
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
            self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def set_scheme(self, scheme: str) -> None:
        """Prefer `light` or `dark` colours."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def set_size(self, width: int, height: int) -> None:
        """The size of the window, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def screenshot(self, **options: Any) -> bytes:
        """A picture of the page as PNG, or as the options of the protocol say."""
        return base64.b64decode(self.call("Page.captureScreenshot", **options)["data"])


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A new browser with an empty profile; ended at the end."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = _wait_for(lambda: _port(Path(profile)))
            opener = build_opener(ProxyHandler({}))

            def find_page() -> str | None:
                with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                    pages = [page for page in json.load(answer) if page["type"] == "page"]
                return pages[0]["webSocketDebuggerUrl"] if pages else None

            with connect(_wait_for(find_page), max_size=None, proxy=None) as connection:
                yield Browser(connection)
        finally:
            process.terminate()
            process.wait(timeout=20)


def _port(profile: Path) -> str | None:
    try:
        found = re.match(r"\d+\n", (profile / "DevToolsActivePort").read_text())
    except OSError:
        return None
    return found[0].strip() if found else None


def _wait_for(try_it: Callable[[], str | None]) -> str:
    end = time.monotonic() + _SECONDS
    while (value := try_it()) is None:
        assert time.monotonic() < end, "the browser did not start"
        time.sleep(0.05)
    return value
