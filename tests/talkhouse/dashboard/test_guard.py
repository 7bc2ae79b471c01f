"""Who gets the pages: names, origins, tokens and paths; and Streamlit's options, which no file changes."""

import http.client
import json
import os
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from talkhouse.dashboard.guard import Guard
from tests.browser import Served, served
from tests.data_files import data_of

DATA = data_of(__file__)

Headers = list[tuple[str, str]]

WEBSOCKET: Headers = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="),
    ("Sec-WebSocket-Protocol", "streamlit"),
]

PORT = 8501
TOKEN = "a-token"  # noqa: S105 - a test's
HOSTS = ["127.0.0.1:{port}", "localhost:{port}"]
OTHER_HOSTS = [
    *("127.0.0.1", "127.0.0.1:9999", "127.0.0.1:{port}0", "127.0.0.1:{port}.outside.example"),
    *("127.0.0.1:{port}@outside.example", "outside.example", "outside.example:{port}"),
    *("localhost.outside.example:{port}", "0.0.0.0:{port}", "[::1]:{port}", "127.1:{port}", ""),
]
OTHER_ORIGINS = [
    *("null", "", "http://127.0.0.1", "http://127.0.0.1:9999", "http://localhost:9999", "https://{host}"),
    *("http://{host}/", "http://{host}.outside.example", "http://outside.example", "file://"),
]
NO_TOKENS = DATA["no_tokens"]
TOKENS = [{"cookie": "talkhouse-{port}={token}"}, {"cookie": "a=1; talkhouse-{port}=x; talkhouse-{port}={token}; b"}]
PATHS = [
    *("/", "/read?dialogue=dbdc3:CIC9001", "/?token=", "/?token=wrong", "/?Token={token}", "/favicon.png"),
    *("/static/js/", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics"),
    *("/_stcore/script-health-check", "/_stcore/upload_file/session/file", "/_stcore/agent/openapi.json"),
    *("/_stcore/agent/interact", "/_stcore/agent/mcp", "/_stcore/bidi-components/a/b.js", "/_stcore/stream"),
    *("/component/a/index.html", "/media/0123456789abcdef.csv", "/app/static/a.txt", "/auth/login"),
    *("/oauth2callback", "/healthz", "//outside.example/", "/..%2f..%2fetc/passwd"),
]


def guarded(token: str | None) -> Guard:
    """A guard before an application that answers everything."""

    async def inner(scope: Any, _receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
        else:
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"access-control-allow-origin", b"*")]}
            )
            await send({"type": "http.response.body", "body": b"inside"})

    return Guard(inner, PORT, token, "default-src 'self'")


def asked(guard: Guard, headers: Headers, kind: str = "http", path: str = "/", method: str = "GET") -> list[Any]:
    """Send a request to a guard, and return its messages."""
    sent: list[Any] = []
    plain, _, query = path.partition("?")
    scope = {
        "type": kind,
        "method": method,
        "path": plain,
        "raw_path": plain.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    # Nothing is waited for, so no loop is needed.
    with suppress(StopIteration):
        guard(scope, receive, send).send(None)
    return sent


def passed(sent: list[Any]) -> bool:
    """Return whether the application behind the guard was reached."""
    return sent[0] == {"type": "websocket.accept"} or sent[-1].get("body") == b"inside"


def filled(headers: dict[str, str], **values: object) -> Headers:
    return [(name, value.format(**values)) for name, value in headers.items()]


@pytest.mark.parametrize("token", [TOKEN, None])
def test_only_who_knows_the_token_and_asks_from_a_page_of_this_server_passes(token: str | None) -> None:
    guard = guarded(token)
    for kind, name, credentials in product(("http", "websocket"), HOSTS + OTHER_HOSTS, TOKENS + NO_TOKENS):
        host = name.format(port=PORT)
        for origin in [None, "http://{host}", *OTHER_ORIGINS]:
            origins = [] if origin is None else [("origin", origin.format(host=host))]
            sent = asked(guard, [("host", host), *origins, *filled(credentials, port=PORT, token=TOKEN)], kind)
            may = name in HOSTS and origin in (None, "http://{host}") and (token is None or credentials in TOKENS)
            assert passed(sent) == may, (kind, host, origin, credentials)
            if not may:
                assert sent[0] in ({"type": "websocket.close"},) or sent[0]["status"] == 403


@pytest.mark.slow
@pytest.mark.parametrize("token", [TOKEN, None])
def test_what_a_page_elsewhere_loads_is_refused_but_a_link_may_lead_here(token: str | None) -> None:
    guard = guarded(token)
    known: Headers = [("host", f"127.0.0.1:{PORT}"), *filled(TOKENS[0], port=PORT, token=TOKEN)]
    navigation = ("navigate", "document")
    kinds = [navigation, ("navigate", "iframe"), ("no-cors", "script"), ("cors", "empty"), ("websocket", "empty")]
    for site, (mode, dest) in product(("none", "same-origin", "same-site", "cross-site", "odd"), kinds):
        fetch = [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)]
        is_here = site in ("none", "same-origin")
        assert passed(asked(guard, [*known, *fetch])) == (is_here or (mode, dest) == navigation)
        for kind, method in (("websocket", "GET"), ("http", "POST"), ("http", "PUT")):
            assert passed(asked(guard, [*known, *fetch], kind, method=method)) == is_here


@pytest.mark.slow
def test_two_names_or_origins_are_refused() -> None:
    known: Headers = [("host", f"127.0.0.1:{PORT}"), *filled(TOKENS[0], port=PORT, token=TOKEN)]
    origin = ("origin", f"http://127.0.0.1:{PORT}")
    assert passed(asked(guarded(TOKEN), [*known, origin]))
    assert not passed(asked(guarded(TOKEN), [*known, origin, ("origin", "http://outside.example")]))
    assert not passed(asked(guarded(TOKEN), [*known, ("host", "outside.example")]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "target"),
    [
        (f"/?token={TOKEN}", "/"),
        (f"/read?a=1&token={TOKEN}&b=%22%26&c", "/read?a=1&amp;b=%22%26&amp;c"),
        (f"/?token=x&token={TOKEN}", "/"),
        (f"//outside.example/?token={TOKEN}", "//outside.example/"),
        (f'/">?token={TOKEN}', "/&quot;&gt;"),
    ],
)
def test_a_token_in_the_address_becomes_a_cookie(path: str, target: str) -> None:
    start, body = asked(guarded(TOKEN), [("host", f"localhost:{PORT}")], path=path)
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    assert (start["status"], passed([start, body])) == (200, False)
    assert headers["set-cookie"] == f"talkhouse-{PORT}={TOKEN}; HttpOnly; Path=/; SameSite=strict"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert f'content="0;url=http://localhost:{PORT}{target}"' in body["body"].decode()
    assert TOKEN not in body["body"].decode()


@pytest.mark.slow
def test_a_wrong_token_sets_no_cookie_and_is_taken_out_for_who_is_known() -> None:
    host = ("host", f"127.0.0.1:{PORT}")
    start, _ = asked(guarded(TOKEN), [host], path="/?token=wrong")
    assert start["status"] == 403
    start, body = asked(guarded(TOKEN), [host, *filled(TOKENS[0], port=PORT, token=TOKEN)], path="/?token=wrong")
    assert (start["status"], b"set-cookie" in dict(start["headers"])) == (200, False)
    assert b"wrong" not in body["body"]


@pytest.mark.slow
def test_every_answer_tells_browsers_what_to_keep_to() -> None:
    known: Headers = [("host", f"127.0.0.1:{PORT}"), *filled(TOKENS[0], port=PORT, token=TOKEN)]
    for headers, policy in ((known, "default-src 'self'"), (known[:1], "default-src 'none'; frame-ancestors 'none'")):
        found = dict(asked(guarded(TOKEN), headers)[0]["headers"])
        assert found[b"x-frame-options"] == b"DENY"
        assert found[b"x-content-type-options"] == b"nosniff"
        assert found[b"cross-origin-opener-policy"] == found[b"cross-origin-resource-policy"] == b"same-origin"
        assert found[b"content-security-policy"].decode().startswith(policy)
        assert not any(name.startswith(b"access-control-") for name in found)


@pytest.mark.slow
def test_no_path_of_the_server_answers_without_the_token(pages: Served) -> None:
    url, _, token = pages.url.partition("/?token=")
    port = int(url.rpartition(":")[2])
    values = {"port": port, "token": token}
    for path, method, credentials in product(PATHS, ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"), NO_TOKENS):
        headers = [("Host", f"127.0.0.1:{port}"), *filled(credentials, **values)]
        status, text = answer(port, method, path.format(**values), headers)
        assert status == 403, (path, method, credentials)
        assert method == "HEAD" or "<code>talkhouse dashboard</code> printed" in text
    for path in ("/", "/read", "/_stcore/health", "/_stcore/host-config", "/favicon.png"):
        status, _ = answer(port, "GET", path, [("Host", f"127.0.0.1:{port}"), *filled(TOKENS[0], **values)])
        assert status == 200


@pytest.mark.slow
def test_the_server_refuses_other_names_and_origins(pages: Served) -> None:
    url, _, token = pages.url.partition("/?token=")
    port = int(url.rpartition(":")[2])
    for name, origin, sent in product(HOSTS + OTHER_HOSTS, [None, "http://{host}", *OTHER_ORIGINS], [*TOKENS, {}]):
        host = name.format(port=port)
        origins = [] if origin is None else [("Origin", origin.format(host=host))]
        headers = [("Host", host), *origins, *filled(sent, port=port, token=token)]
        may = name in HOSTS and origin in (None, "http://{host}") and sent in TOKENS
        assert answer(port, "GET", "/", headers)[0] == (200 if may else 403), headers
        assert answer(port, "GET", "/_stcore/health", headers)[0] == (200 if may else 403), headers
        assert answer(port, "GET", "/_stcore/stream", [*headers, *WEBSOCKET])[0] == (101 if may else 403), headers


CONFIG = DATA["config"]

SECRETS = 'LD_PRELOAD = "outside.so"\nTALKHOUSE_SECRET = "outside"\n'

ENVIRONMENT = DATA["environment"]

IMPOSE = """
import json, os
from talkhouse.dashboard import guard

guard.impose(8501)
import streamlit
from streamlit import config
from streamlit.web.bootstrap import prepare_streamlit_environment

prepare_streamlit_environment(guard.__file__)
options = {key: (repr(option.value), option.where_defined) for key, option in config.get_config_options().items()}
del options["server.cookieSecret"]
print(json.dumps([options, dict(os.environ), config.get_option("server.cookieSecret")]))
"""

CHANGED = """
from streamlit import config

config.on_config_parsed(lambda: config.set_option("server.enableCORS", False), force_connect=True)
"""
"""A Streamlit that sets an option by itself, as some versions did."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder, with a home folder in it, whose files open everything."""
    for folder in (tmp_path, tmp_path / "home"):
        (folder / ".streamlit").mkdir(parents=True)
        (folder / ".streamlit" / "config.toml").write_text(CONFIG)
        (folder / ".streamlit" / "secrets.toml").write_text(SECRETS)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {**ENVIRONMENT, "HOME": str(folder / "home"), "USERPROFILE": str(folder / "home")}


def python(code: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
    )


def test_no_file_and_no_variable_changes_an_option(hostile: Path) -> None:
    done = python(IMPOSE, hostile, **environment(hostile))
    assert (done.returncode, done.stderr) == (0, "")
    options, variables, signed_by = json.loads(done.stdout)
    assert {where for _, where in options.values()} == {"<default>", "command-line argument or environment variable"}
    for key, value in {"server.enableCORS": True, "server.enableAgentApi": False, "secrets.files": []}.items():
        assert options[key][0] == repr(value)
    assert signed_by != "known"
    assert not [name for name in variables if name.startswith("STREAMLIT_") or variables[name] == "outside"]
    assert variables.get("LD_PRELOAD") == os.environ.get("LD_PRELOAD")


@pytest.mark.slow
def test_every_option_is_the_same_as_without_these_files(hostile: Path) -> None:
    (hostile / "clean" / "home").mkdir(parents=True)
    with_files, _, _ = json.loads(python(IMPOSE, hostile, **environment(hostile)).stdout)
    without, _, _ = json.loads(python(IMPOSE, hostile / "clean", HOME=str(hostile / "clean" / "home")).stdout)
    assert with_files == without
    assert len(without) > 300


@pytest.mark.slow
def test_a_damaged_file_is_not_read_either(hostile: Path) -> None:
    (hostile / ".streamlit" / "config.toml").write_text("server] = [")
    done = python(IMPOSE, hostile, **environment(hostile))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_nothing_is_served_by_a_streamlit_that_has_options_of_its_own(tmp_path: Path) -> None:
    done = python(CHANGED + IMPOSE, tmp_path)
    assert done.returncode == 1
    assert "this version of Streamlit does not keep to the options" in done.stderr
    assert "found:    server.enableCORS" in done.stderr


# Where a token is asked for, fewer get as far as what is tried here.
@pytest.mark.parametrize(
    "options", [pytest.param([], marks=pytest.mark.long), pytest.param(["--no-token"], marks=pytest.mark.slow)]
)
def test_a_server_in_a_hostile_folder_is_as_any_other(hostile: Path, sample: Path, options: list[str]) -> None:
    with served(sample, hostile, *options, **environment(hostile)) as pages:
        url, _, token = pages.url.partition("/?token=")
        assert bool(token) == (not options)
        port = int(url.rpartition(":")[2])
        known: Headers = [("Cookie", f"talkhouse-{port}={token}")] if token else []
        host = ("Host", f"127.0.0.1:{port}")
        for origin in (url, "http://outside.example", "http://127.0.0.1:9999", "http://localhost:9999", "null"):
            headers = [host, *known, ("Origin", origin)]
            is_own = origin == url
            assert answer(port, "GET", "/", headers)[0] == (200 if is_own else 403)
            assert answer(port, "GET", "/_stcore/stream", [*headers, *WEBSOCKET])[0] == (101 if is_own else 403)
        assert answer(port, "GET", "/", [("Host", f"outside.example:{port}"), *known])[0] == 403
        _, body = answer(port, "GET", "/_stcore/agent/openapi.json", [host, *known])
        assert "is not currently agent-accessible" in body
        assert pages.stop()[0] == 0
        assert len(pages.output.read_text().splitlines()) == 1


def answer(port: int, method: str, path: str, headers: Headers) -> tuple[int, str]:
    """Ask the server with just these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        found = connection.getresponse()
        return found.status, "" if found.status == 101 else found.read().decode("utf-8", "replace")
    finally:
        connection.close()
