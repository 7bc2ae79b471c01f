"""A Superset of the tests' own: installed, set up, served, asked."""

import json
import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPCookieProcessor, Request, build_opener
from uuid import uuid4

from tests import outside

PAGE = (Path(__file__).parents[3] / "docs" / "bi.md").read_text(encoding="utf-8")
START = 120.0
"""Seconds after which a server that does not answer has failed."""


def documented(beginning: str) -> list[str]:
    """Return the words of the page's one command that begins so."""
    lines = [line.strip() for line in PAGE.replace("\\\n", " ").splitlines()]
    (found,) = [line for line in lines if line.startswith(beginning)]
    return shlex.split(found)


class Superset:
    """Superset as the page on BI tools installs it: all settings are its own, and its tables are in SQLite."""

    def __init__(self, folder: Path) -> None:
        """Install it into a folder."""
        self._folder = folder
        for beginning in ("uv venv", "uv pip install"):
            outside.run(documented(beginning), folder)
        self._commands = folder / "superset" / "bin"
        own = {"SUPERSET_SECRET_KEY": uuid4().hex * 2, "SUPERSET_HOME": str(folder / "home"), "FLASK_APP": "superset"}
        self._env = {**os.environ, **own, "PATH": f"{self._commands}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        self.url = ""
        self._headers: dict[str, str] = {}
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def set_up(self) -> None:
        """Make its tables, roles, and a user admin with the password admin."""
        for beginning in ("superset db upgrade", "superset fab create-admin", "superset init"):
            self.command(documented(beginning))

    def command(self, words: Sequence[object], cwd: Path | None = None) -> str:
        """Run a command as Superset's user does; it must end well, and tell of no error."""
        done = subprocess.run(
            list(map(str, words)), env=self._env, cwd=cwd or self._folder, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout

    @contextmanager
    def served(self) -> Iterator[None]:
        """Run the web server, and end it and all that it started."""
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        words = documented("superset run")
        words[words.index("--port") + 1] = str(port)
        with self._log.open("w") as log:
            process = subprocess.Popen(
                [self._commands / words[0], *words[1:]],
                env=self._env,
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
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
                with self._opener.open(f"{self.url}/health", timeout=5):
                    return
            except (URLError, TimeoutError, ConnectionError):
                assert process.poll() is None, self._log.read_text()
                assert time.monotonic() < end, self._log.read_text()
                time.sleep(0.1)

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

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
