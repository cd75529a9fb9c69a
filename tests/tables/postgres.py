"""A real Postgres server on loopback, one for all workers of a run, with a role that may only read."""

import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import once

PASSWORD = "s3cret-pa55"
READER = "reader"


@dataclass(frozen=True)
class Server:
    """Where the server listens, and the database of whoever asks."""

    port: int
    database: str = "postgres"

    def url(self, user=READER, password=PASSWORD, database=""):
        return f"postgres://{user}:{password}@127.0.0.1:{self.port}/{database or self.database}"

    @property
    def owner(self):
        return self.url("postgres")


def programs():
    """The folder of Debian's newest server; None where there is none."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return installed[-1].parent if installed else None


def why_not():
    """Why no server can be started here; empty where one can."""
    if programs() is None:
        return "Postgres is not installed (apt-get install postgresql)"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "Postgres refuses to run as root, and there is no runuser"
    return ""


def running():
    """The server of this run, which the first worker that asks starts."""
    return Server(int((once.once("postgres", _start) / "port").read_text()))


def stop():
    """Stop the server of this run and remove its folder, if it was started; before `once.end()`."""
    named = Path(os.environ[once._FOLDER], "postgres", "where")
    if named.exists():
        where = Path(named.read_text())
        _call(where, "pg_ctl", "-D", "db", "-m", "immediate", "stop", check=False)
        shutil.rmtree(where, ignore_errors=True)


def _start(folder):
    """Begin a server whose folder, unlike that of the run, the user postgres may enter; say where it is."""
    import psycopg

    where, port = Path(tempfile.mkdtemp(prefix="faithscope-postgres-")), _free_port()
    (where / "password").write_text(PASSWORD)
    if os.geteuid() == 0:
        shutil.chown(where, "postgres")
        shutil.chown(where / "password", "postgres")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={where} -c fsync=off"
    text = ("-A", "scram-sha-256", "--pwfile=password", "-E", "UTF8", "-U", "postgres", "--no-locale")
    try:
        _call(where, "initdb", "-D", "db", *text)
        _call(where, "pg_ctl", "-D", "db", "-o", options, "-l", "log", "-w", "start")
    except subprocess.CalledProcessError:
        shutil.rmtree(where, ignore_errors=True)
        raise
    with psycopg.connect(Server(port).owner, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}'")
    (folder / "where").write_text(str(where))
    (folder / "port").write_text(str(port))


def _call(where, program, *words, check=True):
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*user, str(programs() / program), *words], check=check, capture_output=True, cwd=where)


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
