"""A real JupyterLab in a real, headless Chromium, for tests.

What lives here: finding a Chromium, starting a JupyterLab that knows nothing of the user's own settings, and `NotebookPage`, one open
notebook with the few actions tests need. What does not: the fixtures (conftest.py) and any test.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
SCREENSHOTS = ROOT / "tests/browser/screenshots"  # not committed
# In a whole run they take half a minute
SHOTS = bool(os.environ.get("MINIGRAD_THOROUGH")) or "PYTEST_XDIST_WORKER" not in os.environ
TOKEN = "test-token"
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What JupyterLab itself says when a kernel restarts or ends while the page is open.
JUPYTERLABS_OWN = ("Could not restore the debugger state: Canceled", "Canceled future for debug_request")
NO_CHROMIUM = (
    "no Chromium was found, so the browser tests cannot run. Install Debian's or Ubuntu's `chromium`, or Google Chrome, or run "
    "`.venv/bin/python -m playwright install chromium`, or set CHROMIUM=/path/to/chromium."
)


def find_chromium() -> str | None:
    """The path of a Chromium: $CHROMIUM, then one on PATH, then the usual place of Chrome, then Playwright's own."""
    if chosen := os.environ.get("CHROMIUM"):
        return shutil.which(chosen)
    places = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ]
    for place in places:
        if found := shutil.which(place):
            return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if os.path.exists(own) else None


@contextlib.contextmanager
def chromium(path: str, **context):
    """A browser context; extra keywords go to Playwright's `new_context`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        try:
            yield browser.new_context(**{"viewport": {"width": 1400, "height": 1000}, **context})
        finally:
            browser.close()


@contextlib.contextmanager
def lab_server(root: Path, home: Path, app: str = "lab", config: Path = ROOT / ".jupyter"):
    """Serve `root` with JupyterLab and yield its address. All settings, kernels' profiles and logs are in `home`, and so is lab.log.

    app: "lab", or "notebook" for Notebook 7. config: the folder with Jupyter's configuration; by default the one that `make lab` uses."""
    settings = {
        "notebook-extension/tracker": {"windowingMode": "none"},  # cells outside the window stay in the page
        "apputils-extension/themes": {"theme": "JupyterLab Light", "adaptive-theme": False},
    }
    for name, value in settings.items():
        file = home / "settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    # The kernel is this environment's own python3: Jupyter looks in sys.prefix whatever the data folder is.
    env = dict(
        os.environ,
        JUPYTER_CONFIG_PATH=str(config),
        JUPYTER_CONFIG_DIR=str(home / "config"),
        JUPYTER_DATA_DIR=str(home / "data"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        IPYTHONDIR=str(home / "ipython"),
        JUPYTERLAB_SETTINGS_DIR=str(home / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(home / "workspaces"),
        MINIGRAD_PROGRESS=str(home / "progress.json"),
        PYTHONPATH=str(ROOT),
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    name = {"lab": "jupyterlab", "notebook": "notebook"}[app]
    own = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}[app]
    # window.jupyterapp runs any command
    command = [
        sys.executable,
        "-m",
        name,
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.disable_check_xsrf=True",
        f"--{own}.expose_app_in_browser=True",
    ]
    log = home / "lab.log"
    with open(log, "wb") as out:
        server = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(f"{address}/api/status?token={TOKEN}", server, log)
        yield address
    finally:
        stop(server)


def wait_until_up(url: str, server: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    """Return when `url` answers; raise with the server's log when it ends or does not answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with code {server.returncode}:\n{log.read_text()}")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=1).read()
            return
        time.sleep(0.05)
    raise RuntimeError(f"the server did not answer within {seconds} s:\n{log.read_text()}")


def stop(server: subprocess.Popen) -> None:
    """End the server and the kernels that it started: its whole process group, where the system has one."""
    if sys.platform == "win32":
        server.terminate()
        server.wait()
        return
    for sign, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(seconds)
            return


class NotebookPage:
    """One notebook, open in JupyterLab. `page` is Playwright's page; `errors` and `outside` fill while the notebook is used."""

    def __init__(self, page: Page, address: str, path: str):
        self.page, self.address, self.path = page, address, path
        self.errors: list[str] = []  # what the browser's console called an error
        self.outside: list[str] = []  # addresses that were asked for and are not the server's
        self._listens = {"console": self._note_console, "pageerror": lambda error: self.errors.append(str(error)),
                         "request": self._note_request}  # fmt: skip
        for event, listener in self._listens.items():
            page.on(event, listener)

    def _note_console(self, message) -> None:
        if message.type == "error" and not message.text.startswith(JUPYTERLABS_OWN):
            self.errors.append(message.text)

    def _note_request(self, request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.outside.append(request.url)

    def open_in(self) -> NotebookPage:
        """Open the notebook in a JupyterLab that is loaded and empty (see `close`), or as `open` does."""
        if not self.page.url.startswith(f"{self.address}/lab/"):
            return self.open()
        self.command("docmanager:open", path=self.path.replace(os.sep, "/"))
        self.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell", timeout=60_000)
        self.wait_idle()
        return self

    def open(self) -> NotebookPage:
        """Load the notebook with a fresh layout, and wait for its kernel."""
        self.page.goto(
            f"{self.address}/lab/workspaces/test/tree/{self.path}?reset&token={TOKEN}", wait_until="domcontentloaded"
        )
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        self.wait_idle()
        return self

    def command(self, name: str, **args) -> None:
        """Run a JupyterLab command, such as "notebook:run-all-cells", and wait until it is done."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)", [name, args]
        )

    def wait_idle(self, timeout: float = 60_000) -> None:
        """Wait until the kernel is connected and has nothing to do. (Several notebooks can be open: this is the one in front.)"""
        self.page.wait_for_function(
            "() => { const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;"
            " return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle'; }",
            timeout=timeout,
        )

    def run_all(self, timeout: float = 120_000) -> NotebookPage:
        """Run every cell; returns when the last one is done."""
        self.page.set_default_timeout(timeout)
        self.command("notebook:run-all-cells")
        self.page.evaluate("() => { window.quietSince = Infinity; }")
        self.page.wait_for_function(  # between two cells the kernel says "idle" too: it must stay so, and no cell may wait its turn, [*]
            "() => { const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel;"
            " const waiting = [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-InputPrompt')];"
            " const busy = kernel?.status !== 'idle' || waiting.some(prompt => prompt.textContent.includes('*'));"
            " window.quietSince = busy ? Infinity : Math.min(window.quietSince, performance.now());"
            " return performance.now() - window.quietSince > 100; }",
            timeout=timeout,
        )
        self.page.set_default_timeout(30_000)
        return self

    def restart(self) -> None:
        """Restart the kernel, without the question whether one is sure."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        self.wait_idle()

    def python(self, code: str) -> str:
        """What `code` prints in the notebook's kernel."""
        return self.page.evaluate(
            """async (code) => { const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
               const run = kernel.requestExecute({code}); let out = '';
               run.onIOPub = (m) => { if (m.content.text) out += m.content.text; }; await run.done; return out.trim(); }""",
            code,
        )

    def cell(self, index: int):
        """The cell with this index, the first is 0 (a Playwright locator)."""
        return self.page.locator(
            ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook > .jp-WindowedPanel-outer .jp-Cell"
        ).nth(index)

    def cell_errors(self) -> list[str]:
        """The stderr and traceback outputs of the notebook."""
        kinds = ("stderr", "error")
        css = ", ".join(f'.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in kinds)
        return self.page.locator(css).all_inner_texts()

    def theme(self, name: str) -> None:
        """Switch to "light" or "dark"."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name.title()}")
        self.page.wait_for_function(
            "want => document.body.dataset.jpThemeLight === want", arg=str(name == "light").lower()
        )
        self.page.wait_for_timeout(200)  # the new stylesheet's colours are applied a moment after the attribute

    def themes(self) -> Iterator[str]:
        """The page in light, then in dark, for screenshots: neither where none are taken."""
        for name in ("light", "dark") if SHOTS else ():
            self.theme(name)
            yield name
        if SHOTS:
            self.theme("light")

    def shot(self, name: str, target=None) -> None:
        """Save a PNG of the window, or of one locator, as screenshots/<name>.png; see SHOTS."""
        if SHOTS or name.startswith("failed-"):
            SCREENSHOTS.mkdir(exist_ok=True)
            (target or self.page).screenshot(path=str(SCREENSHOTS / f"{name}.png"))

    def close(self, keep: bool = False) -> bool:
        """Shut the kernel down and close the page, without a question about unsaved changes. With `keep`, only the notebook is closed where
        that is possible: whether the page can open another one."""
        for event, listener in self._listens.items():
            self.page.remove_listener(event, listener)
        with contextlib.suppress(Exception):  # a test may have killed the kernel or the page
            self.page.evaluate("""async () => { for (const shown of [...window.jupyterapp.shell.widgets('main')]) {
                await shown.sessionContext?.shutdown(); shown.dispose(); } }""")
            if keep and self.page.url.startswith(f"{self.address}/lab/"):
                self.page.set_viewport_size({"width": 1400, "height": 1000})
                self.page.set_default_timeout(30_000)
                return True
        self.page.close()
        return False
