"""A Superset of the tests' own: installed, set up, served, asked."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen
from uuid import uuid4

import pytest

PYTHON = "3.11"
DAYS = ["--exclude-newer=2026-05-20", "--exclude-newer-package=duckdb=2026-08-01"]
DAYS += ["--exclude-newer-package=duckdb-engine=2026-08-01"]
"""What is newer is not installed, so that today's tests install what yesterday's did."""
# Superset imports rich and cachetools and does not declare them.
SUPERSET = ["apache-superset==6.1.0", "rich", "cachetools", "duckdb==1.5.5", "duckdb-engine"]
NO_NETWORK = (
    "dns error",
    "error sending request",
    "Network is unreachable",
    "Could not connect",
    "network was disabled",
)
START = 120.0
"""Seconds after which a server that does not answer has failed."""


def install(folder: Path) -> Path:
    """Install Superset into an environment of its own, and return the folder of its commands."""
    uv("venv", "--quiet", "--python", PYTHON, folder)
    uv("pip", "install", "--quiet", "--python", folder / "bin" / "python", *DAYS, *SUPERSET)
    return folder / "bin"


def uv(*arguments: object) -> str:
    """Run uv with the user's cache, not the tests'; skip the test where there is no uv or no network."""
    program = shutil.which("uv")
    if program is None:
        pytest.skip("uv is not installed: it would install Superset")
    env = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "VIRTUAL_ENV")}
    done = subprocess.run([program, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=1800)
    if done.returncode and any(words in done.stderr for words in NO_NETWORK):
        pytest.skip(f"no network to install Superset from: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Superset:
    """Superset as installed by its documentation: no settings but a key, SQLite for its own tables."""

    def __init__(self, commands: Path, home: Path) -> None:
        self._commands, self._home = commands, home
        config = home / "superset_config.py"
        config.write_text(
            f'SECRET_KEY = "{uuid4().hex * 2}"\nSQLALCHEMY_DATABASE_URI = "sqlite:///{home / "superset.db"}"\n'
        )
        own = {"SUPERSET_CONFIG_PATH": str(config), "SUPERSET_HOME": str(home), "FLASK_APP": "superset"}
        self._env = {**os.environ, **own, "NO_COLOR": "1"}
        self.url = ""
        self._headers: dict[str, str] = {}
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def set_up(self) -> None:
        """Make its tables, roles, and a user admin with the password admin."""
        self.command("db", "upgrade")
        names = ["--username", "admin", "--firstname", "A", "--lastname", "B", "--email", "a@example.org"]
        self.command("fab", "create-admin", *names, "--password", "admin")
        self.command("init")

    def command(self, *arguments: str) -> None:
        """Run ``superset`` with arguments; it must end well, and tell of no error."""
        words = [str(self._commands / "superset"), *arguments]
        done = subprocess.run(words, env=self._env, cwd=self._home, capture_output=True, text=True, timeout=600)
        shown = done.stdout + done.stderr
        assert done.returncode == 0, shown
        assert "Traceback" not in shown, shown

    def python(self, script: Path, *arguments: object) -> str:
        """Run a script where Superset can be imported, and return its output."""
        words = [str(self._commands / "python"), str(script), *map(str, arguments)]
        done = subprocess.run(words, env=self._env, cwd=self._home, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def served(self) -> Iterator[None]:
        """Run the web server, and end it and all that it started."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        words = [str(self._commands / "superset"), "run", "-h", "127.0.0.1", "-p", str(port), "--with-threads"]
        with (self._home / "server.log").open("w") as log:
            process = subprocess.Popen(
                words, env=self._env, cwd=self._home, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            self._wait_for(process)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _wait_for(self, process: "subprocess.Popen[bytes]") -> None:
        end = time.monotonic() + START
        while True:
            try:
                with urlopen(f"{self.url}/health", timeout=5):
                    return
            except (URLError, TimeoutError, ConnectionError):
                assert process.poll() is None, self.log()
                assert time.monotonic() < end, self.log()
                time.sleep(0.1)

    def log(self) -> str:
        """Return what the server has said."""
        return (self._home / "server.log").read_text(errors="replace")

    def log_in(self) -> None:
        """Get what requests need: a token, and one against forgery with its cookie."""
        user = {"username": "admin", "password": "admin", "provider": "db"}
        self._headers = {"Referer": self.url}
        self._headers["Authorization"] = f"Bearer {self.ask('/security/login', user)['access_token']}"
        self._headers["X-CSRFToken"] = self.ask("/security/csrf_token/")["result"]

    def ask(self, path: str, data: object = None) -> dict[str, Any]:
        """Ask the REST interface; an error is returned as what the server says about it, under ``refused``."""
        body = None if data is None else json.dumps(data).encode()
        return self._request(path, body, "application/json")

    def upload(self, path: str, name: str, content: bytes) -> dict[str, Any]:
        """Send a file as a form does."""
        mark = uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.zip"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        return self._request(path, body, f"multipart/form-data; boundary={mark}")

    def _request(self, path: str, body: bytes | None, kind: str) -> dict[str, Any]:
        headers = {**self._headers, **({} if body is None else {"Content-Type": kind})}
        try:
            with self._opener.open(Request(f"{self.url}/api/v1{path}", body, headers), timeout=120) as answer:  # noqa: S310
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            return {"refused": f"{error.code} {error.read().decode(errors='replace')}"}

    def all_of(self, kind: str) -> list[dict[str, Any]]:
        """List all databases, datasets, charts or dashboards."""
        found = self.ask(f"/{kind}/?q={quote('(page_size:1000)')}")
        assert found["count"] == len(found["result"])
        result: list[dict[str, Any]] = found["result"]
        return result

    def one_of(self, kind: str, number: int) -> dict[str, Any]:
        """Return a database, dataset, chart or dashboard with all its members."""
        result: dict[str, Any] = self.ask(f"/{kind}/{number}")["result"]
        return result

    def rows(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a chart's query, which must not have failed."""
        assert "refused" not in answer, answer
        (result,) = answer["result"]
        assert result["status"] == "success", result
        assert result["error"] is None
        data: list[dict[str, Any]] = result["data"]
        return data
