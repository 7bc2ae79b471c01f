"""Streamlit's options are ours, whatever lies in the folders that it looks into and stands in the environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import served
from tests.talkhouse.dashboard.asking import WEBSOCKET, Headers, answer

CONFIG = """
[server]
enableCORS = false
corsAllowedOrigins = ["http://outside.example"]
enableXsrfProtection = false
allowedHosts = ["*"]
enableAgentApi = true
enableStaticServing = true
scriptHealthCheckEnabled = true
cookieSecret = "known"
baseUrlPath = "elsewhere"
maxUploadSize = 1
sslCertFile = "cert.pem"
[server.trustedUserHeaders]
X-User = "email"
[client]
showErrorDetails = "none"
allowedOrigins = ["http://outside.example"]
[browser]
gatherUsageStats = true
[runner]
magicEnabled = true
[theme]
base = "http://127.0.0.1:1/theme.toml"
[theme.sidebar.light]
base = "dark"
[secrets]
files = ["secrets.toml"]
"""

SECRETS = 'LD_PRELOAD = "outside.so"\nTALKHOUSE_SECRET = "outside"\n'

ENVIRONMENT = {
    "STREAMLIT_SERVER_COOKIE_SECRET": "known",
    "STREAMLIT_SERVER_ENABLE_CORS": "false",
    "STREAMLIT_SERVER_ENABLE_AGENT_API": "true",
    "STREAMLIT_MAPBOX_TOKEN": "known",
    "WEB_CONCURRENCY": "many",
    "FORWARDED_ALLOW_IPS": "*",
}

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
        _, said = answer(port, "GET", "/_stcore/agent/openapi.json", [host, *known])
        assert "is not currently agent-accessible" in said
        assert pages.stop()[0] == 0
        assert len(pages.output.read_text().splitlines()) == 1
