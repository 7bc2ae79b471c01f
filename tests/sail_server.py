"""A server of Spark Connect without Java: Sail, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SERVER = """
import sys
import pyspark
pyspark.__version__ = "4.2.0"  # the newest that Sail 0.7 knows; it looks at this to choose its settings
from pysail.spark import SparkConnectServer
server = SparkConnectServer()
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def running() -> Iterator[str]:
    """Run a server; yield its URL. It ends with the process that started it, too."""
    command = [sys.executable, "-W", "ignore", "-c", _SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"sc://127.0.0.1:{int(server.stdout.readline())}"
        server.kill()
