"""The home: one directory that holds everything one agent is on this machine.

    node.toml       settings
    identity/       0700
      agent.seed    0600, the Ed25519 seed
      seal.seed     0600, the X25519 secret
      agent.id      the agent's id: what is public of the first
    draft.json      the first draft of a Descriptor
    node.db         the store
    node.lock       held by whoever changes the home, with its process id inside
    control.sock    0600, while the daemon runs
    handlers/       the operator's programs, where he keeps them here
    jobs/           0700, the directories of jobs that run

The invariant: nothing in a home is read or written before it is known to be the operator's own, closed to
others where it holds a secret, and held by nobody else. Root is no exception: files that root makes in
another's home lock its owner out of it.
Source: binding 9.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_state_path

from node.errors import Exit, NodeError

VARIABLE = "AGENT_NODE_HOME"
SOCKET_PATH_BYTES = 107
"""What the address of a Unix socket holds on Linux: 108 bytes, the last one zero."""
SECRET_BYTES = 4096
"""More than any seed file needs."""


@dataclass(frozen=True)
class Home:
    """A home by its absolute path; that it exists is known after `create` or `check`."""

    path: Path

    @classmethod
    def locate(cls, flag: str | None, environ: Mapping[str, str]) -> Home:
        """The home `flag` names, else `AGENT_NODE_HOME`, else the platform's state directory.

        An empty variable counts as not stated. Raises NodeError HOME_UNUSABLE for a flag that names nothing.
        """
        if flag == "":
            raise NodeError("HOME_UNUSABLE", "--home names no directory.", Exit.UNREADABLE)
        named = flag or environ.get(VARIABLE)
        try:
            return cls((Path(named).expanduser() if named else user_state_path("agent-node")).absolute())
        except RuntimeError as error:
            raise NodeError("HOME_UNUSABLE", f"{named}: there is no such user.", Exit.UNREADABLE) from error

    @property
    def named(self) -> str:
        """What a command has to be told to find this home: ` --home DIR`; nothing for the platform's own place."""
        return "" if self.path == user_state_path("agent-node") else f" --home {shlex.quote(str(self.path))}"

    @property
    def config(self) -> Path:
        """`node.toml`."""
        return self.path / "node.toml"

    @property
    def identity_dir(self) -> Path:
        """The directory of the two seeds."""
        return self.path / "identity"

    @property
    def agent_seed(self) -> Path:
        """The file of the Ed25519 seed."""
        return self.identity_dir / "agent.seed"

    @property
    def seal_seed(self) -> Path:
        """The file of the X25519 secret."""
        return self.identity_dir / "seal.seed"

    @property
    def agent_id(self) -> Path:
        """The file of the agent's id, for whoever needs the name and not the key."""
        return self.identity_dir / "agent.id"

    @property
    def draft(self) -> Path:
        """The operator's first draft, as `init` made it."""
        return self.path / "draft.json"

    @property
    def database(self) -> Path:
        """The store's file."""
        return self.path / "node.db"

    @property
    def socket(self) -> Path:
        """The control socket."""
        return self.path / "control.sock"

    @property
    def handlers(self) -> Path:
        """The directory that Python handlers are found in."""
        return self.path / "handlers"

    @property
    def jobs(self) -> Path:
        """The directory of the directories of jobs that run."""
        return self.path / "jobs"

    @property
    def lock_file(self) -> Path:
        """The file that `lock` holds."""
        return self.path / "node.lock"

    def create(self) -> None:
        """Makes the home and its identity directory, each 0700; what is there already stays as it is.

        Raises NodeError HOME_UNUSABLE, HOME_PATH_TOO_LONG.
        """
        self._check_length()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for directory in (self.path, self.identity_dir):
                with suppress(FileExistsError):
                    directory.mkdir(mode=0o700)
                    directory.chmod(0o700)
                    sync_directory(directory.parent)
        except OSError as error:
            raise unusable(self.path, error) from error

    def check(self) -> None:
        """Refuses a home that must not be used as it is.

        Raises NodeError: HOME_MISSING, HOME_UNUSABLE (no directory, or not to be entered), HOME_NOT_YOURS,
        HOME_LOOSE (others may write in the home or its `handlers/`, or enter `identity/`), HOME_PATH_TOO_LONG, and for
        a seed that is there what `read_secret` raises.
        """
        self._check_length()
        self._check_directory(self.path, closed_to=0o022)
        if self.handlers.exists():
            self._check_directory(self.handlers, closed_to=0o022)
        if self.identity_dir.exists():
            self._check_directory(self.identity_dir, closed_to=0o077)
            for seed in (self.agent_seed, self.seal_seed):
                if seed.exists() or seed.is_symlink():
                    read_secret(seed)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the home for as long as the context lasts; the kernel lets go of it if the process dies.

        Raises NodeError HOME_IN_USE (naming the holder's process id), HOME_MISSING, HOME_UNUSABLE.
        """
        try:
            lock = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unusable(self.path, error) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise self._in_use(os.pread(lock, 20, 0)) from error
            except OSError as error:
                raise unusable(self.lock_file, error) from error
            os.ftruncate(lock, 0)
            # The number helps a person to find the holder; a full disk must not keep the node from starting.
            with suppress(OSError):
                os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            yield
            os.ftruncate(lock, 0)
        finally:
            os.close(lock)

    def _in_use(self, written: bytes) -> NodeError:
        number = written.strip().decode("ascii", "replace")
        pid = int(number) if number.isascii() and number.isdigit() else None
        holder = f" by process {pid}" if pid else ""
        message = f"The home {self.path} is in use{holder}; stop that process, or choose another home."
        return NodeError("HOME_IN_USE", message, details={"pid": pid} if pid else None)

    def _check_length(self) -> None:
        length = len(os.fsencode(self.socket))
        if length > SOCKET_PATH_BYTES:
            raise NodeError(
                "HOME_PATH_TOO_LONG",
                f"{self.socket} is {length} bytes, and a socket's path holds {SOCKET_PATH_BYTES}; "
                f"choose a home with a shorter path (--home, or {VARIABLE}).",
            )

    def _check_directory(self, path: Path, closed_to: int) -> None:
        try:
            found = path.stat()
        except OSError as error:
            raise unusable(path, error) from error
        if not stat.S_ISDIR(found.st_mode):
            raise NodeError("HOME_UNUSABLE", f"{path} is not a directory; move it away, or choose another home.")
        _check_owner(path, found)
        if found.st_mode & closed_to:
            mode = f"{stat.S_IMODE(found.st_mode):04o}"
            raise NodeError(
                "HOME_LOOSE",
                f"{path} is open to others (mode {mode}); close it with: chmod 700 {shlex.quote(str(path))}",
            )


def read_secret(path: Path) -> str:
    """The text of a seed file, at most `SECRET_BYTES`, without white space at its end.

    Raises NodeError: KEY_MISSING, KEY_UNREADABLE (a symbolic link, no regular file, or not to be opened),
    KEY_LOOSE (group or others may read or write it), HOME_NOT_YOURS, KEY_DAMAGED (too long, or no ASCII).
    """
    try:
        # O_NONBLOCK: a named pipe in its place is refused instead of waited for.
        seed = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # Judged by the open file, so that what was judged is what is read.
            _check_secret(path, os.fstat(seed))
            data = os.read(seed, SECRET_BYTES + 1)
        finally:
            os.close(seed)
    except FileNotFoundError as error:
        message = f"{path} is missing; restore it from a backup, or make a new identity with: agent-node init"
        raise NodeError("KEY_MISSING", message) from error
    except OSError as error:
        link = error.errno == errno.ELOOP
        why = "it is a symbolic link; put the file itself there" if link else error.strerror
        raise NodeError("KEY_UNREADABLE", f"{path} cannot be read: {why}.") from error
    if len(data) > SECRET_BYTES or not data.isascii():
        raise NodeError("KEY_DAMAGED", f"{path} does not hold a seed; restore it from a backup.")
    return data.decode("ascii").rstrip()


def sync_directory(path: Path) -> None:
    """Makes the names in a directory survive a power cut. Raises OSError."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def unusable(path: Path, error: OSError) -> NodeError:
    """What an operator is told about a path of the home that the system refuses."""
    if isinstance(error, FileNotFoundError):
        return NodeError(
            "HOME_MISSING",
            f"There is no home at {path}; make one with: agent-node init, or name yours with --home or {VARIABLE}.",
        )
    return NodeError("HOME_UNUSABLE", f"{error.filename or path} cannot be used: {error.strerror}.")


def _check_secret(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NodeError("KEY_UNREADABLE", f"{path} cannot be read: it is not a regular file.")
    _check_owner(path, found)
    if found.st_mode & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise NodeError(
            "KEY_LOOSE",
            f"{path} is open to others (mode {mode}) and may have been read. Close it with: "
            f"chmod 600 {shlex.quote(str(path))}",
        )


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise NodeError(
            "HOME_NOT_YOURS",
            f"{path} belongs to {_user(found.st_uid)}, and this is {_user(os.geteuid())}; "
            "run agent-node as the owner, or choose another home.",
        )


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
