"""Ask a server with just the headers that are given, as no library does."""

import http.client

Headers = list[tuple[str, str]]

WEBSOCKET: Headers = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="),
    ("Sec-WebSocket-Protocol", "streamlit"),
]


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
