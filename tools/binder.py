"""What Binder does with this repository, as far as it can be done without Docker and conda: `make binder`, or `python -m tools.binder`.

What lives here: asking repo2docker which files it would build from; building that environment with pip in place of conda and running
postBuild in it; then a learner's session in it (JupyterLab and one kernel), its start and its memory measured. What does not: tests. The
numbers are in docs/deploy.md; memory is read on Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv
from pathlib import Path

import nbformat
from jupyter_client.blocking import BlockingKernelClient

from tools.lab import ROOT, TOKEN, stop, wait_until_up

# Conda-forge's name -> the Python package index's
PIP_NAMES = {
    "python-graphviz": "graphviz",
    "matplotlib-base": "matplotlib",
}
ASK = """if True:
    from repo2docker.app import Repo2Docker
    app = Repo2Docker()
    pack = next(pack for pack in (Pack(app.base_image) for Pack in app.buildpacks) if pack.detect())
    print(type(pack).__name__, pack.python_version, *pack.get_post_build_scripts())
"""


def requirements() -> list[str]:
    """environment.yml's packages, in pip's words."""
    lines = re.findall(r"^ +- (\S.*)$", (ROOT / "environment.yml").read_text().split("\ndependencies:\n")[1], re.M)
    named = [line for line in lines if not re.match(r"python=|pip:?$", line)]
    return [re.sub(r"^[\w-]+", lambda name: PIP_NAMES.get(name[0], name[0]), line) for line in named]


def environment(folder: Path, *packages: str) -> Path:
    """A fresh virtual environment with these packages; its Python."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    return python


def processes(leader: int) -> list[int]:
    """The processes of a session that `leader` leads (field 6 of /proc/N/stat, counted after the name), itself among them."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            session = int(stat.read_text().rpartition(")")[2].split()[3])
        except (OSError, ValueError):  # ended while we looked
            continue
        if session == leader:
            found.append(int(stat.parent.name))
    return found


def megabytes(pids: list[int], field: str) -> float:
    """VmRSS (now) or VmHWM (at its highest) of these processes, added up. Pages that two share count twice, so the truth is below it."""
    total = 0
    for pid in pids:
        try:
            total += int(re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1])
        except (OSError, TypeError):  # ended, or it has no memory of its own any more
            continue
    return total * 1024 / 1e6


def watched(command: list[str | Path], **where) -> tuple[float, float]:
    """Run a command; its seconds, and the most megabytes that it and its children held at one time."""
    begun, most, done = time.monotonic(), 0.0, threading.Event()
    process = subprocess.Popen(command, start_new_session=True, **where)

    def look() -> None:
        nonlocal most
        while not done.wait(0.05):
            most = max(most, megabytes(processes(process.pid), "VmRSS"))

    watcher = threading.Thread(target=look)
    watcher.start()
    code = process.wait()
    done.set()
    watcher.join()
    if code:
        sys.exit(f"minigrad: {command[0]} ended with {code}")
    return time.monotonic() - begun, most


class Session:
    """A JupyterLab server as a Binder machine starts it, and its kernels."""

    def __init__(self, python: Path, checkout: Path, home: Path):
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "PYTHON", "VIRTUAL_ENV"))
        }
        self.runtime = home / "runtime"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        env |= {"PATH": f"{python.parent}:{env['PATH']}", "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(self.runtime)}
        log = home / "lab.log"
        command = [
            python,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}",
            "--ServerApp.disable_check_xsrf=True",
        ]
        self.address = f"http://127.0.0.1:{port}"
        with open(log, "wb") as out:
            self.server = subprocess.Popen(
                command, cwd=checkout, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )
        wait_until_up(f"{self.address}/api/status?token={TOKEN}", self.server, log)

    def post(self, where: str, body: dict, method: str = "POST") -> dict:
        request = urllib.request.Request(
            f"{self.address}/api/{where}?token={TOKEN}",
            json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")

    def open(self, path: str) -> tuple[str, BlockingKernelClient]:
        """Start the notebook's kernel through the server, as the page does, and talk to it."""
        session = self.post("sessions", {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}})
        client = BlockingKernelClient(connection_file=str(self.runtime / f"kernel-{session['kernel']['id']}.json"))
        client.load_connection_file()
        # Replies only: the outputs are the page's
        client.start_channels(iopub=False, stdin=False, hb=False, control=False)
        client.kernel_info(reply=True, timeout=60)
        return session["id"], client

    def close(self, session: str, client: BlockingKernelClient) -> None:
        client.stop_channels()
        self.post(f"sessions/{session}", {}, "DELETE")

    def most(self) -> tuple[float, float]:
        """The server's and its kernels' highest memory."""
        kernels = [
            pid
            for process in Path("/proc").glob("[0-9]*/status")
            for pid in [int(process.parent.name)]
            if re.search(rf"^PPid:\t{self.server.pid}$", _read(process), re.M)
        ]
        return megabytes([self.server.pid], "VmHWM"), megabytes(kernels, "VmHWM")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def learner(python: Path, checkout: Path) -> None:
    """Open each chapter in a kernel of its own and run its cells; print what a machine needs for it."""
    notebooks = sorted((checkout / "notebooks").glob("[0-9]*.ipynb"))
    cells = {
        path: [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"] for path in notebooks
    }
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        session = Session(python, checkout, Path(folder))
        up = time.monotonic() - begun
        try:
            table = []
            for path in notebooks:
                opened, client = session.open(f"notebooks/{path.name}")
                for number, source in enumerate(cells[path]):
                    try:
                        reply = client.execute(source, allow_stdin=False, reply=True, timeout=300)
                    except TimeoutError:
                        sys.exit(f"minigrad: {path.stem}: cell {number} did not answer within 300 s:\n{source}")
                    if path == notebooks[0] and number == 0:
                        print(
                            f"server answers after {up:.1f} s, the start chapter's first cell after {time.monotonic() - begun:.1f} s"
                        )
                    broken = "raises-exception" in str(nbformat.read(path, 4).cells)
                    if reply["content"]["status"] != "ok" and not broken:
                        print(f"  {path.stem}: cell {number} failed: {reply['content'].get('ename')}")
                server, kernel = session.most()
                table.append((server + kernel, server, kernel, path.stem))
                session.close(opened, client)
            for total, server, kernel, name in table:
                print(f"  {name:32} server {server:4.0f} MB + kernel {kernel:4.0f} MB = {total:4.0f} MB")
            total, _, _, name = max(table)
            print(f"most: {total:.0f} MB, with {name}")
        finally:
            stop(session.server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--constraint", type=Path, help="exact versions for pip; Binder takes the newest that environment.yml allows"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        subprocess.run(["git", "clone", "--quiet", ROOT, checkout], check=True)
        asker = environment(Path(folder, "asker"), "jupyter-repo2docker")
        asked = subprocess.run([asker, "-c", ASK], cwd=checkout, capture_output=True, text=True)
        print(f"repo2docker builds with: {asked.stdout.strip() or asked.stderr}", flush=True)
        shutil.rmtree(Path(folder, "asker"))
        exact = ["--constraint", str(options.constraint.resolve())] if options.constraint else []
        python = environment(Path(folder, "environment"), *requirements(), *exact)
        env = dict(os.environ, PATH=f"{python.parent}:{os.environ['PATH']}", VIRTUAL_ENV=str(python.parents[1]))
        seconds, most = watched(
            ["./postBuild"], cwd=checkout, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        print(f"postBuild: {seconds:.0f} s, {most:.0f} MB at the most", flush=True)
        learner(python, checkout)


if __name__ == "__main__":
    main()
