"""A fork server: a process that runs one job at a time, each in a fresh child that ends with the job.

Both sides of the pipe, the messages, and `fork`. The jobs are in child.py (run answers) and reader.py (read files). This file is copied
into the kit.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_RESULT = 4_000_000  # bytes read from a child that runs an answer
MAX_MESSAGE = 64 << 20  # bytes of a job, or of what a fork server answers
END = b"\n\x00"  # a child's last word: a process that it left behind may hold the pipe open


class NotStarted(RuntimeError):
    """The process that runs submissions did not start."""


@dataclass(frozen=True)
class Box:
    """What one process may use."""

    wall: float = 20.0
    cpu: int = 15
    memory: int = 2 << 30
    file_size: int = 1 << 20


# ---- the grader's side ----------------------------------------------------------------------------------------------------------------


class ForkServer:
    """A process that runs one job at a time, each in a fresh child. Its first message is in `hello`."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None):
        self.command, self.env, self.cwd = list(command), env, cwd
        self.first: Any = None  # the message that is sent once, before any job
        self.hello: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, job: Mapping[str, Any], wall: float) -> tuple[bytes, str]:
        """What the child wrote, and "" or how it ended: "late", or a phrase."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            send(self._process.stdin.fileno(), json.dumps(job).encode())
            answer = receive(self._process.stdout, time.monotonic() + wall + 10)  # type: ignore[arg-type]
            end, _, raw = answer.partition(b"\n")
            return raw, end.decode("ascii", "replace")
        except (OSError, ValueError, EOFError):
            self._stop()  # the next job starts a new one
            return b"", "the process around it ended too"

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, env=self.env,
            cwd=self.cwd,
        )  # fmt: skip
        try:
            if self.first is not None:
                send(self._process.stdin.fileno(), json.dumps(self.first).encode())  # type: ignore[union-attr]
            self.hello = json.loads(receive(self._process.stdout, time.monotonic() + 120))  # type: ignore[arg-type]
        except (OSError, EOFError, ValueError) as error:
            self._stop()
            raise NotStarted(
                f"The process that runs submissions did not start: {' '.join(self.command[:3])} ..."
            ) from error

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()  # type: ignore[union-attr]
            except OSError:
                pass
        try:
            process.wait(5)  # the end of its input is the end of it; its child dies with the job
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def send(fd: int, data: bytes) -> None:
    write_all(fd, struct.pack("!I", len(data)) + data)


def receive(pipe: Any, until: float) -> bytes:
    """One message: four bytes of length, then so many bytes. EOFError when it does not come whole or in time."""
    fd = pipe.fileno() if hasattr(pipe, "fileno") else pipe
    data, need = bytearray(), 4
    while len(data) < need:
        left = until - time.monotonic()
        part = os.read(fd, min(need - len(data), 1 << 16)) if left > 0 and select.select([fd], [], [], left)[0] else b""
        if not part:
            raise EOFError
        data += part
        if len(data) == 4 == need:
            need = 4 + struct.unpack("!I", data)[0]
            if need > MAX_MESSAGE:
                raise EOFError
    return bytes(data[4:])


# ---- the server's side ----------------------------------------------------------------------------------------------------------------


def serve(hello: Mapping[str, Any], work: Callable[[Any], tuple[bytes, str]]) -> None:
    """Say `hello`, then do every job that arrives on stdin, and end with it."""
    send(1, json.dumps(hello).encode())
    while True:
        try:
            job = json.loads(receive(0, time.monotonic() + 10**7))
        except EOFError:
            return
        raw, end = work(job)
        send(1, end.encode() + b"\n" + raw)


def fork(
    work: Callable[[int], None], wall: float, most: int = MAX_MESSAGE - 100, too_much: Callable[[], bool] | None = None
) -> tuple[bytes, str]:
    """Call `work(pipe)` in a child. Returns its output, and "" or a sentence about its end. No process remains afterwards.

    It is ended when it has written `most` bytes, after `wall` seconds, or as soon as `too_much()`.
    """
    get, put = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.close(get)
            work(put)
        finally:
            os._exit(1 if sys.exc_info()[0] else 0)
    os.close(put)
    raw, late = _read(get, time.monotonic() + wall, most, too_much)
    os.close(get)
    for kill in (os.killpg, os.kill):  # whatever it left running
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    status = os.waitpid(pid, 0)[1]
    if late:
        return raw, "late"
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return raw, "" if code in (0, -signal.SIGKILL) else f"code {code}"


def _read(fd: int, until: float, most: int, too_much: Callable[[], bool] | None) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    while (left := until - time.monotonic()) > 0 and size < most:
        if not select.select([fd], [], [], min(left, 0.05) if too_much else left)[0]:
            if too_much is not None and too_much():
                break
            continue
        part = os.read(fd, 65536)
        if not part:
            return b"".join(parts), False
        parts.append(part)
        size += len(part)
        if part.endswith(END):
            return b"".join(parts), False
    return b"".join(parts)[:most], True
