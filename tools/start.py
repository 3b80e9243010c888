"""What `make lab` shows: installing with a line that moves, then JupyterLab with one address to open.

    python tools/start.py step LOG "message" command ...     run a command, show the seconds, and on failure the end of its output
    python tools/start.py lab PORT HOST BROWSER              copy the course into my-course/ and serve it

It runs before anything is installed, so `step` needs Python's own library only. Numba's caches are compiled beside the running server:
this takes a minute of one core, and a cell that needs a kernel before that compiles it itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
COURSE = ROOT / "my-course"
# Warnings that JupyterLab repeats for every kernel, and that do not concern a server on the learner's own machine; and those about a window
# that reconnects after sleep or after a restart of the server.
QUIET = re.compile(
    r"^\[I |^\[C [^]]*\] *$|without encryption|insecure transport|Extension Manager is|nbgrader_config"
    r"|WebSocket ping timeout|404 GET /api/|Kernel does not exist",
    re.I,
)


def step(log: Path, message: str, command: Sequence[str]) -> int:
    """Run `command` with its output in the file `log`, and count the seconds beside `message`, which shows that it has not stopped."""
    log.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    moves = sys.stdout.isatty()
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        print(f"minigrad: {message}", end="" if moves else "\n", flush=True)
        while process.poll() is None:
            seconds = round(time.monotonic() - began)
            if moves:
                print(f"\rminigrad: {message} {seconds} s ", end="", flush=True)
            elif seconds and seconds % 4 == 0:
                print(f"  {seconds} s", flush=True)
                time.sleep(0.6)
            time.sleep(0.5)
    took = f"{time.monotonic() - began:.0f} s"
    if process.returncode:
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
        print(f"\nminigrad: this failed after {took}. The last lines of {log}:\n  " + "\n  ".join(end), flush=True)
    else:
        print(f"\rminigrad: {message} done in {took}" if moves else f"  done in {took}", flush=True)
    return process.returncode


def serve(port: str, host: str, browser: str) -> int:
    """Copy the chapters that are missing, start JupyterLab on them, and print the address once it answers."""
    copied = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "minigrad.course", str(COURSE)], cwd=ROOT, capture_output=True, text=True
    )
    if copied.returncode:
        print(copied.stderr.strip())
        return copied.returncode
    lines = [line for line in copied.stdout.splitlines() if "Next:" not in line]
    print("\n".join(f"minigrad: {line}" for line in lines if " 0 notebooks" not in f" {line}"), flush=True)
    first = min(path.name for path in COURSE.glob("*.ipynb"))
    command = [sys.executable, "-W", "ignore", "-m", "jupyterlab", f"--ServerApp.root_dir={COURSE}",
               f"--LabApp.default_url=/lab/tree/{first}", f"--ip={host}", f"--port={port}", "--log-level=WARN",
               "--ServerApp.answer_yes=True"]  # fmt: skip
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command += ["--no-browser"] if browser == "no" else []
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": str(ROOT / ".jupyter")}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
    Thread(target=pass_on, args=(server,), daemon=True).start()
    try:
        if address := wait_for_address(server):
            if (given := urlsplit(address).port) != int(port):
                print(f"minigrad: port {port} is in use, perhaps by another JupyterLab, so this one has {given}.")
            print(f"\nminigrad: open this address:\n\n    {address}\n\nStop it with Ctrl-C.", flush=True)
            warm = [sys.executable, "-W", "ignore", "-m", "widgets.warm"]
            subprocess.Popen(warm, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lower)
        return server.wait()
    except KeyboardInterrupt:
        return server.wait()


lower = (lambda: os.nice(10)) if hasattr(os, "nice") else None


def wait_for_address(server: subprocess.Popen) -> str:
    """The address with its token, as the server itself has written it down; "" if the server ended."""
    from jupyter_server.serverapp import list_running_servers

    began, told = time.monotonic(), 0
    while server.poll() is None:
        for running in list_running_servers():
            if running["pid"] == server.pid:
                first = min(path.name for path in COURSE.glob("*.ipynb"))
                return f"{running['url']}lab/tree/{first}?token={running['token']}"
        seconds = round(time.monotonic() - began)
        if seconds - told >= 4:
            told = seconds
            print(f"minigrad: starting JupyterLab, {seconds} s", flush=True)
        time.sleep(0.2)
    return ""


def pass_on(server: subprocess.Popen) -> None:
    """Print what the server reports, but for its own listing of addresses and `QUIET`."""
    listing = False
    for line in server.stderr or ():
        listing = "To access the server" in line or (listing and (not line.strip() or line.startswith("    ")))
        if line.strip() and not listing and not QUIET.search(line):
            print(line, end="", flush=True)


def main(arguments: Sequence[str]) -> int:
    if arguments[0] == "step":
        return step(Path(arguments[1]), arguments[2], arguments[3:])
    return serve(*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
