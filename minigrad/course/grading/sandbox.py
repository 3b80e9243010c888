"""What the operating system refuses a submission: other files and their rights, the network, new processes, signals to others.

What lives here: limits of a process, and on Linux Landlock (files), seccomp (system calls), namespaces (the network, a small disk), and
another user where the grader runs as root; each is asked for, and `measured` finds out by trying which of them hold. This file travels
into the kit. An audit hook stands behind all of it; on systems without the rest it stands alone, and code that reaches past Python can get
around it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

LINUX = sys.platform.startswith("linux")
NEWUSER, NEWNET, NEWIPC, NEWNS = 0x10000000, 0x40000000, 0x08000000, 0x00020000
DISK, FILES = 16 << 20, 256  # bytes and files that one answer may write

# ---- files: Landlock ------------------------------------------------------------------------------------------------------------------

READ, WRITE_TOO, LIST = (1 << 0) | (1 << 2) | (1 << 3), (1 << 13) - 1, 1 << 3
SYSTEM = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share", "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/dev/urandom",
          "/dev/zero")  # fmt: skip


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def file_rules(readable: Iterable[str], writable: str, hidden: Iterable[str]) -> int | None:
    """A Landlock ruleset: Python, the system's libraries and `readable` may be read, `writable` may be written, `hidden` never.

    Returns its file descriptor, or None where the kernel has no Landlock. It binds nobody until `enter` applies it.
    """
    if not LINUX:
        return None
    libc = _libc()
    abi = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return None
    handled = WRITE_TOO | (1 << 13 if abi >= 2 else 0) | (1 << 14 if abi >= 3 else 0) | (1 << 15 if abi >= 5 else 0)
    # Files; TCP; signals and abstract sockets
    request = struct.pack("=QQQ", handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    request = request[: 8 if abi < 4 else 16 if abi < 6 else 24]
    rules = libc.syscall(444, request, ctypes.c_size_t(len(request)), 0)
    if rules < 0:
        return None
    hide = [os.path.realpath(p) for p in hidden]
    requested = {
        os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, *SYSTEM, *readable, *sys.path) if p
    }
    granted = {part: right for path in sorted(requested) for part, right in _without(path, hide)}
    granted |= {os.path.realpath(writable): WRITE_TOO | (1 << 14 if abi >= 3 else 0), "/dev/null": (1 << 1) | (1 << 2)}
    for path, right in granted.items():
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not os.path.isdir(path):
            right &= (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14)
        libc.syscall(445, rules, 1, struct.pack("=Qi", right & handled, fd), 0)
        os.close(fd)
    return rules


def _write_only(libc: Any, folder: str) -> bool:
    """A second Landlock ruleset on top of the first: of all that may be written, this one folder is left."""
    rules = libc.syscall(444, struct.pack("=Q", WRITE_TOO), ctypes.c_size_t(8), 0)
    for path, right in (("/", READ), (folder, WRITE_TOO), ("/dev/null", (1 << 1) | (1 << 2))):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(445, rules, 1, struct.pack("=Qi", right, fd), 0)
        os.close(fd)
    done = bool(libc.syscall(446, rules, 0) == 0)
    os.close(rules)
    return done


def _without(path: str, hidden: list[str]) -> list[tuple[str, int]]:
    """`path` as what may be read of it when the folders `hidden` may not: it, or its parts."""
    if any(path == h or path.startswith(h + os.sep) for h in hidden):
        return []
    if not any(h.startswith(path.rstrip(os.sep) + os.sep) for h in hidden):
        return [(path, READ)]
    try:
        inside = [e.path for e in os.scandir(path) if not e.is_symlink()]
    except OSError:
        return []
    # Names may be listed: import does
    return [
        (path, LIST),
        *(part for name in sorted(inside) for part in _without(name, hidden)),
    ]


# ---- system calls: seccomp ------------------------------------------------------------------------------------------------------------

# In each list: socket; fork, vfork, execve, execveat; kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal; ptrace,
# process_vm_readv, process_vm_writev; mount, umount2, pivot_root, chroot, unshare, setns; bpf, perf_event_open, userfaultfd,
# io_uring_setup; keyctl, add_key, request_key; init_module, finit_module, kexec_load; open_by_handle_at; shmget, msgget, semget.
# Then what Landlock does not know of any file, or did not in its first version: truncate; chmod, fchmod, fchmodat; chown, fchown, lchown,
# fchownat; utime, utimes, futimesat, utimensat; setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr; link, linkat,
# symlink, symlinkat; mknod, mknodat;
# quotactl. And of other processes: setpriority, ioprio_set; sched_setaffinity, _setscheduler, _setparam, _setattr; migrate_pages,
# move_pages, kcmp. At the end the clone, prlimit64, fcntl and ioctl that are refused in part.
REFUSED_CALLS = {
    "x86_64": (0xC000003E, (41, 57, 58, 59, 322, 62, 200, 234, 129, 297, 424, 101, 310, 311, 165, 166, 155, 161, 272, 308, 321, 298, 323,
                            425, 250, 248, 249, 175, 313, 246, 304, 29, 68, 64,
                            76, 90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190, 197, 198, 199, 86, 265, 88, 266, 133, 259,
                            179, 141, 251, 203, 144, 142, 314, 256, 279, 312), 56, 302, 72, 16),
    "aarch64": (0xC00000B7, (198, 221, 281, 129, 130, 131, 138, 240, 424, 117, 270, 271, 40, 39, 41, 51, 97, 268, 280, 241, 282, 425,
                             219, 217, 218, 105, 273, 104, 265, 194, 186, 190,
                             45, 52, 53, 54, 55, 88, 5, 6, 7, 14, 15, 16, 36, 37, 33, 60,
                             140, 30, 122, 119, 118, 274, 238, 239, 272), 220, 261, 25, 29),
}  # fmt: skip
# The same numbers everywhere: pidfd_open, pidfd_getfd, process_madvise, process_mrelease; open_tree, move_mount, fsopen, fsconfig, fsmount,
# fspick, mount_setattr; fchmodat2, setxattrat, removexattrat, file_setattr.
REFUSED_EVERYWHERE = (434, 438, 440, 448, 428, 429, 430, 431, 432, 433, 442, 452, 463, 466, 469)
# With an owner, a signal and O_ASYNC on a pipe the kernel itself sends any signal to any process of the same user: F_SETOWN, F_SETSIG and
# F_SETOWN_EX of fcntl, FIOSETOWN and SIOCSPGRP of ioctl.
SET_OWNER, SET_OWNER_IOCTL = (8, 10, 15), (0x8901, 0x8902)


def _filter() -> bytes | None:
    """The seccomp program. Refused calls return EPERM, also clone without CLONE_THREAD; clone3 returns ENOSYS so that threads work."""
    numbers = REFUSED_CALLS.get(platform.machine())
    if numbers is None or sys.maxsize < 1 << 32:
        return None
    arch, refused, clone, prlimit, fcntl, ioctl = numbers
    load, equal, at_least, has_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, eperm, enosys, kill = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
    lines: list[tuple[int, int, int, int]] = [
        (load, 0, 0, 4),
        (equal, 1, 0, arch),
        (answer, 0, 0, kill),
        (load, 0, 0, 0),
    ]
    lines += [(at_least, 0, 1, 0x40000000), (answer, 0, 0, eperm)]  # the x32 numbers of x86_64
    for number in (*refused, *REFUSED_EVERYWHERE):
        lines += [(equal, 0, 1, number), (answer, 0, 0, eperm)]
    lines += [(equal, 0, 1, 435), (answer, 0, 0, enosys)]
    lines += [
        (equal, 0, 4, clone),
        (load, 0, 0, 16),
        (has_bit, 1, 0, 0x10000),
        (answer, 0, 0, eperm),
        (answer, 0, 0, allow),
    ]
    # Of itself only
    lines += [
        (equal, 0, 4, prlimit),
        (load, 0, 0, 16),
        (equal, 1, 0, 0),
        (answer, 0, 0, eperm),
        (answer, 0, 0, allow),
    ]
    for number, commands in ((fcntl, SET_OWNER), (ioctl, SET_OWNER_IOCTL)):
        lines += [(equal, 0, 2 * len(commands) + 2, number), (load, 0, 0, 24)]  # the lower half of the second argument
        for command in commands:
            lines += [(equal, 0, 1, command), (answer, 0, 0, eperm)]
        lines += [(answer, 0, 0, allow)]
    lines += [(answer, 0, 0, allow)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]


# ---- before any submission, once ------------------------------------------------------------------------------------------------------


def own_world(runs: str) -> tuple[bool, bool]:
    """Move this process, and what it starts, into a network without any interface, and mount a small disk on the folder `runs`.

    Returns which of the two succeeded.
    """
    if not LINUX:
        return False, False
    libc, uid, gid = _libc(), os.geteuid(), os.getegid()
    own_users = 0 if uid == 0 else NEWUSER
    apart = libc.unshare(NEWNET | NEWIPC | NEWNS | own_users) == 0
    if not apart:
        return libc.unshare(NEWNET | NEWIPC | own_users) == 0, False
    try:
        for name, line in (
            (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")) if own_users else ()
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
    except OSError:
        return True, False
    options = f"size={DISK},nr_inodes={FILES},mode=711".encode()
    # MS_REC | MS_PRIVATE: the mount is invisible outside
    private = libc.mount(b"none", b"/", None, ctypes.c_ulong(0x44000), None) == 0
    return True, private and libc.mount(
        b"tmpfs", os.fsencode(runs), b"tmpfs", ctypes.c_ulong(0xE), options
    ) == 0  # no suid, dev, exec


def unmount(runs: str) -> None:
    """Take the small disk off again: as long as it is there, the folder under it cannot be deleted."""
    _libc().umount2(os.fsencode(runs), 2)  # MNT_DETACH


def nobody(rules: int | None) -> tuple[int, int, bool] | None:
    """User, group and whether the right to read must be kept, for submissions when the grader runs as root; None when it does not.

    Where Python lies in root's own folder, nobody cannot read it. Then the process keeps one right of root's, to read any file, and
    Landlock says which; without Landlock it stays root, and the report says so.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    import pwd

    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return None
    # An editable install adds a mere name
    folders = [path for path in {os.path.dirname(os.__file__), *sys.path} if os.path.isdir(path)]
    for keep in (False, True) if rules is not None else (False,):
        pid = os.fork()
        if pid == 0:
            try:
                _become((entry.pw_uid, entry.pw_gid, keep))
                for path in folders:
                    os.listdir(path)
                os._exit(0)
            except BaseException:
                os._exit(1)
        if os.waitpid(pid, 0)[1] == 0:
            return entry.pw_uid, entry.pw_gid, keep
    return None


def _become(who: tuple[int, int, bool]) -> None:
    uid, gid, keep = who
    if keep:
        _libc().prctl(8, 1, 0, 0, 0)  # keep capabilities over the change of user, then put down all but one
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if keep:
        only = 1 << 2  # CAP_DAC_READ_SEARCH
        if _libc().capset(struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", only, only, 0, 0, 0, 0)) != 0:
            raise OSError("capset")


# ---- in the process of a submission -----------------------------------------------------------------------------------------------------


def enter(
    box: Mapping[str, Any], folder: str, rules: int | None, who: tuple[int, int, bool] | None, own_users: bool
) -> dict[str, bool]:
    """Irrevocably drop all permissions except writing in `folder`. Returns the restrictions that the kernel accepted."""
    have = {"files": False, "calls": False, "nobody": False}
    if who is not None:
        _become(who)
        have["nobody"] = True
    program = _filter() if LINUX else None
    limit(box, processes=program is None or who is not None or own_users)
    if not LINUX:
        return have
    libc = _libc()
    libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE=0: no core dumps, no ptrace by the same user
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # no new privileges: required by both of the following
        return have
    if who is None:  # in a user namespace of our own we have every right of root's there: put them down
        libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24))
    if rules is not None:
        have["files"] = libc.syscall(446, rules, 0) == 0 and _write_only(libc, folder)
        os.close(rules)
    if program is not None:
        have["calls"] = libc.prctl(22, 2, ctypes.byref(_Program(len(program) // 8, program)), 0, 0) == 0
    return have


def limit(box: Mapping[str, Any], processes: bool = True) -> None:
    """Processor time, memory, size of a file, open files, processes; no core file."""
    try:
        import resource
    except ImportError:  # Windows: wall time only
        return
    requested = {"CPU": box["cpu"], "AS": box["memory"], "FSIZE": box["file_size"], "NOFILE": 64, "CORE": 0}
    # Counted per user: with seccomp and the instructor's own user it would refuse threads because of their browser
    if processes:
        requested["NPROC"] = 64
    for name, value in requested.items():
        try:
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        except (AttributeError, ValueError, OSError):
            pass  # this system has no such limit: the others hold


REFUSED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system", "os.exec",
           "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.kill", "os.killpg", "pty.spawn", "signal.pthread_kill", "os.chmod",
           "os.truncate", "os.chown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "os.link", "os.symlink")  # fmt: skip
PAST_PYTHON = ("ctypes", "_ctypes", "cffi", "_cffi_backend")


def hashes(folders: Iterable[str]) -> frozenset[bytes]:
    """What `watch` needs to know of folders. Their names stay outside of the process: an answer could use them."""
    return frozenset(hashlib.sha256(os.path.realpath(f).encode("utf-8", "surrogateescape")).digest() for f in folders)


def watch(hidden: frozenset[bytes]) -> None:
    """The audit hook: the same restrictions inside Python, with a sentence. It also blocks ctypes."""
    realpath, fsdecode, dirname, sha256 = os.path.realpath, os.fsdecode, os.path.dirname, hashlib.sha256

    def hook(event: str, args: tuple) -> None:
        if event in REFUSED:
            raise PermissionError(f"{event} is not allowed here")
        if event in ("fcntl.fcntl", "fcntl.ioctl") and args[1] in (
            SET_OWNER if event == "fcntl.fcntl" else SET_OWNER_IOCTL
        ):
            raise PermissionError("setting who gets a file's signals is not allowed here")
        if event == "import" and args[0].partition(".")[0] in PAST_PYTHON:
            raise ImportError(f"{args[0]} is not available here")
        if event.startswith("ctypes."):
            raise PermissionError("ctypes is not available here")
        if event in ("open", "os.listdir", "os.scandir") and args and isinstance(args[0], (str, bytes)):
            path, above = "", realpath(fsdecode(args[0]))
            while above != path:
                path, above = above, dirname(above)
                if sha256(path.encode("utf-8", "surrogateescape")).digest() in hidden:
                    raise PermissionError("this folder is not for submissions")

    for name in [n for n in sys.modules if n.partition(".")[0] in PAST_PYTHON]:
        sys.modules[name] = None  # type: ignore[assignment]
    for module in list(sys.modules.values()):
        if getattr(module, "ctypes", None) is not None and module is not sys.modules.get("numpy"):
            vars(module).pop("ctypes", None)
    sys.addaudithook(hook)


# ---- what holds ----------------------------------------------------------------------------------------------------------------------


def _refused(*acts: Callable[[], Any]) -> bool:
    for act in acts:
        try:
            act()
        except (OSError, MemoryError, AttributeError):  # AttributeError: this system does not have it at all
            continue
        return False
    return True


def _set_owner(call: Callable[..., Any], command: int, value: Any) -> None:
    """Request that a pipe's signals are sent to another process."""
    get, put = os.pipe()
    try:
        call(put, command, value)
    finally:
        os.close(get)
        os.close(put)


def measured(hidden_file: str, memory: int) -> dict[str, bool]:
    """Try, after `enter` and before `watch`, what a submission must not do. True where the system refused it.

    The working folder is the empty one that every answer has of its own.
    """
    import fcntl
    import socket

    def connect() -> None:
        with socket.socket() as s:
            s.settimeout(0.2)
            s.connect(("192.0.2.1", 9))  # an address reserved for documentation

    def network() -> bool:
        try:
            connect()
        except OSError as error:
            return isinstance(error, PermissionError) or error.errno == 101  # refused, or a network without any way out
        return False

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    def write(name: str, size: int = 0) -> None:
        with open(name, "wb") as file:
            file.write(bytes(size))

    def fill() -> None:
        for number in range(DISK // 1_000_000 + 1):
            write(f"part{number}", 1_000_000)

    write("mine")
    results = {
        "files": _refused(lambda: open(hidden_file, "rb").close(), lambda: write("../note"), lambda: write("../../note")),
        "rights": _refused(lambda: os.chmod("mine", 0o777), lambda: os.chown("mine", os.getuid(), os.getgid()), lambda: os.utime("mine"),
                          lambda: os.chmod(hidden_file, 0o777), lambda: os.setxattr("mine", "user.note", b"x"),
                          lambda: os.truncate("mine", 0)),
        "links": _refused(lambda: os.symlink("mine", "soft"), lambda: os.link("mine", "hard")),
        "network": network(),
        "processes": _refused(fork),
        "signals": _refused(lambda: os.kill(os.getppid(), 0), lambda: _set_owner(fcntl.fcntl, 8, os.getppid()),
                            lambda: _set_owner(fcntl.fcntl, 10, 9),
                           lambda: _set_owner(fcntl.fcntl, 15, struct.pack("=ii", 1, os.getppid())),
                           *(lambda c=c: _set_owner(fcntl.ioctl, c, struct.pack("=i", os.getppid())) for c in SET_OWNER_IOCTL)),
        "scheduling": _refused(lambda: os.sched_setaffinity(os.getppid(), {0}), lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)),
        "memory": _refused(lambda: bytearray(memory + (1 << 20))),
        "disk": _refused(fill),
        "root": not hasattr(os, "getuid") or os.getuid() != 0,
    }  # fmt: skip
    return results
