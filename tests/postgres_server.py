"""A PostgreSQL server of the tests' own, on a socket in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def programs():
    """Return the folder of the newest server that is installed, None if there is none."""
    found = shutil.which("pg_ctl")
    if found and not Path(found).is_symlink():
        return Path(found).parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")
    return max((one.parent for one in versions), key=lambda one: int(one.parent.name), default=None)


class Server:
    """A server that can be stopped and started; it refuses to be run by root, so that another user runs it then."""

    def __init__(self, folder):
        self.folder = folder
        self._user = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
        if self._user:
            shutil.chown(folder, "nobody")
        self._run("initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres", "--no-sync")
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        self.start()

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=30"
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "server.log", "-o", options, "start")

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-m", mode, "stop")

    def _run(self, program, *arguments):
        command = [*self._user, programs() / program, *arguments]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=120)


@contextmanager
def running_server():
    """Run a server for a while."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.stop()
