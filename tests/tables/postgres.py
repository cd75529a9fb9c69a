"""A real Postgres server on loopback in a temporary folder, with a role that may only read."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "s3cret-pa55"
READER = "reader"


@dataclass(frozen=True)
class Server:
    """Where the server listens."""

    port: int

    def url(self, user: str = READER, password: str = PASSWORD, database: str = "postgres") -> str:
        return f"postgres://{user}:{password}@127.0.0.1:{self.port}/{database}"

    @property
    def owner(self) -> str:
        return self.url("postgres")


def programs() -> Path | None:
    """The folder of Debian's newest server; None where there is none."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return installed[-1].parent if installed else None


def why_not() -> str:
    """Why no server can be started here; empty where one can."""
    if programs() is None:
        return "Postgres is not installed (apt-get install postgresql)"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "Postgres refuses to run as root, and there is no runuser"
    return ""


@contextmanager
def running() -> Iterator[Server]:
    """A server for as long as this lasts."""
    where = Path(tempfile.mkdtemp(prefix="faithscope-postgres-"))
    folder, server = where / "db", Server(_free_port())
    (where / "password").write_text(PASSWORD)
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(where, "postgres")
        shutil.chown(where / "password", "postgres")

    def call(program: str, *words: str) -> None:
        subprocess.run([*user, str(programs() / program), *words], check=True, capture_output=True, cwd=where)

    options = f"-p {server.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={where} -c fsync=off"
    call(
        "initdb",
        "-D",
        str(folder),
        "-A",
        "scram-sha-256",
        f"--pwfile={where / 'password'}",
        "-E",
        "UTF8",
        "-U",
        "postgres",
        "--no-locale",
    )
    try:
        call("pg_ctl", "-D", str(folder), "-o", options, "-l", str(where / "log"), "-w", "start")
        yield server
    finally:
        subprocess.run(
            [*user, str(programs() / "pg_ctl"), "-D", str(folder), "-m", "immediate", "stop"],
            check=False,
            capture_output=True,
            cwd=where,
        )
        shutil.rmtree(where, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
