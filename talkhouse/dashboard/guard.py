"""The guard of the pages: which users, host names and origins may send requests, and Streamlit's options.

Everything that reaches the server passes ``Guard`` first, by HTTP and by websocket.

Streamlit's options are ours or its defaults, whatever files, secrets and the environment say. Streamlit reads
``.streamlit/config.toml`` and ``secrets.toml`` of the home folder, of the folder that it was started in and of the
script's folder, and puts secrets into the environment, which the file-making commands inherit. Anyone able to write to
one of these folders could lift every limit. So no such file is read at all: options given as flags would override
files, but not the secrets, nor what a damaged file does.
"""

import os
import secrets
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.toml_files import toml_of

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
"""Host names of the server; a page elsewhere can't reach it under another one (DNS rebinding)."""

PARAMETER = "token"
"""The parameter of an address, used once: the answer is a cookie."""

_HTTP_PORT = 80

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The policy of the guard's own pages."""

_PAGE = Path(__file__).with_name("guard_page.html").read_text(encoding="utf-8")


class Guard:
    """An ASGI application that passes on what may reach another one, and answers 403 to the rest.

    ``token`` is None for a server open to every user of this machine: names and origins are still checked.
    ``policy`` is the Content-Security-Policy of the pages.
    """

    def __init__(self, app: ASGIApp, port: int, token: str | None, policy: str) -> None:
        self._app, self._token, self._policy = app, token, policy
        self._hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == _HTTP_PORT else set())
        self._address = f"http://{ADDRESS}:{port}"
        # Browsers send the cookies of one port to all others of the same name.
        self._cookie = f"talkhouse-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or see one websocket through."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        asked = HTTPConnection(scope)
        if refusal := self._refusal(asked):
            return await self._refuse(refusal, scope, receive, send)
        if scope["type"] == "http" and _token_in(asked) is not None:
            return await self._without_token(asked)(scope, receive, self._with_headers(send, _NOTHING))
        return await self._app(scope, receive, self._with_headers(send, self._policy))

    def _refusal(self, asked: HTTPConnection) -> str:
        """Return the reason for refusing a request, as HTML; empty if it is answered."""
        if asked.headers.getlist("host") not in [[host] for host in self._hosts]:
            return f"This server is called <b>{self._address}</b> alone."
        if not _is_from_here(asked):
            return f"Pages of other servers may not use this one. Open <b>{self._address}</b> in a tab of its own."
        if not self._is_known(asked):
            return (
                "Open the address that <code>talkhouse dashboard</code> printed where it was started: it ends with a "
                "token.</p>\n<p>A link that somebody gave you works in this browser after that, and at once if it has "
                "the token itself: <b>Copy link</b> on the pages gives both.</p>\n<p>If a link on another page brought "
                'you here, <a href="">open this page again</a>.'
            )
        return ""

    def _is_known(self, asked: HTTPConnection) -> bool:
        """Return whether a request has the cookie, or the token in its address."""
        if self._token is None:
            return True
        tokens = [_token_in(asked)] if asked.scope["type"] == "http" else []
        return any(value is not None and self._is_token(value) for value in [*tokens, *self._cookies(asked)])

    def _is_token(self, text: str) -> bool:
        return self._token is not None and secrets.compare_digest(text.encode(), self._token.encode())

    def _cookies(self, asked: HTTPConnection) -> list[str]:
        """Return the values of Talkhouse's cookie; a page of another port may have set more of that name."""
        pairs = [pair.partition("=") for line in asked.headers.getlist("cookie") for pair in line.split(";")]
        return [value.strip() for name, _, value in pairs if name.strip() == self._cookie]

    def _without_token(self, asked: HTTPConnection) -> HTMLResponse:
        """Set the cookie, and lead to the same address without the token.

        By a page and not by a redirect: where another page led here, browsers would follow a redirect without the
        cookie, which is for what begins on this server.
        """
        query = "&".join(part for part in _parts(asked) if not _is_parameter(part))
        path = asked.scope["raw_path"].decode("latin-1")
        target = escape(f"http://{asked.headers['host']}{path}{'?' if query else ''}{query}")
        head = f'<meta http-equiv="refresh" content="0;url={target}">\n'
        response = HTMLResponse(
            _PAGE.format(head=head, body=f'<p><a href="{target}">Talkhouse</a></p>'),
            headers={"Cache-Control": "no-store"},
        )
        token = _token_in(asked)
        if self._token is not None and token is not None and self._is_token(token):
            response.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
        return response

    async def _refuse(self, why: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Closed before it is open: the server answers 403.
            await send({"type": "websocket.close"})
            return
        page = _PAGE.format(head="", body=f"<h1>Access refused</h1>\n<p>{why}</p>")
        response = HTMLResponse(page, HTTPStatus.FORBIDDEN, {"Cache-Control": "no-store"})
        await response(scope, receive, self._with_headers(send, _NOTHING))

    def _with_headers(self, send: Send, policy: str) -> Send:
        """Add to each answer the headers that browsers must obey."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**_HEADERS, "Content-Security-Policy": policy})
                for name in [name for name in headers if name.startswith("access-control-")]:
                    del headers[name]
            await send(message)

        return with_headers


def _is_from_here(asked: HTTPConnection) -> bool:
    """Return whether a page of this server, or a program, sent a request; links elsewhere may open a page in a tab."""
    origins = asked.headers.getlist("origin")
    if origins and origins != [f"http://{asked.headers['host']}"]:
        return False
    if asked.headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return True
    place = asked.headers.get("sec-fetch-mode"), asked.headers.get("sec-fetch-dest")
    return asked.scope["type"] == "http" and asked.scope["method"] == "GET" and place == ("navigate", "document")


def _parts(asked: HTTPConnection) -> list[str]:
    """Return the parameters of an address as they are written."""
    query: str = asked.scope["query_string"].decode("latin-1")
    return query.split("&") if query else []


def _is_parameter(part: str) -> bool:
    return part.partition("=")[0] == PARAMETER


def _token_in(asked: HTTPConnection) -> str | None:
    """Return the token in the address; the last, if there are several."""
    found = [part.partition("=")[2] for part in _parts(asked) if _is_parameter(part)]
    return found[-1] if found else None


_VARIABLES = "STREAMLIT_"


def impose(port: int) -> None:
    """Set all options of this process for good; raises TalkhouseError if Streamlit has taken one from elsewhere."""
    for name in [name for name in os.environ if name.startswith(_VARIABLES)]:
        del os.environ[name]
    from streamlit import config

    own = {"server.address": ADDRESS, "server.allowedHosts": [*NAMES], "browser.serverAddress": ADDRESS}
    options = {**toml_of(__file__, "streamlit_options"), **own, "server.port": port, "browser.serverPort": port}
    # Every file of options or secrets is looked for by this function alone; the check below finds out if that changes.
    vars(config)["get_config_files"] = _no_files
    config.get_config_options(force_reparse=True, options_from_flags=options)
    _check_options(options)


def _no_files(_name: str) -> list[str]:
    return []


def _check_options(options: Mapping[str, Any]) -> None:
    from streamlit import config
    from streamlit.config_option import ConfigOption

    found = config.get_config_options()
    others = [key for key, wanted in options.items() if key not in found or found[key].value != wanted]
    others += [
        key
        for key, option in found.items()
        if key not in options and option.where_defined != ConfigOption.DEFAULT_DEFINITION
    ]
    if others:
        raise TalkhouseError(
            "the pages are not served: this version of Streamlit does not keep to the options that guard them",
            found=", ".join(sorted(others)),
            next_step="install the version of Streamlit that Talkhouse was tried with: uv sync",
        )
