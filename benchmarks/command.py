"""An ingest as a process of its own, measured whole: interpreter, imports and end included.

A small process stands between, since the peak that the system tells of a process begins with that of its parent.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TALKHOUSE = [sys.executable, "-c", "from talkhouse.cli import main; main()"]


def ingest(corpus: str, source: Path, warehouse: Path) -> dict[str, float]:
    """Run ``talkhouse ingest``: seconds, processor seconds, peak megabytes, and the warehouse's megabytes as result."""
    warehouse.unlink(missing_ok=True)
    command = [*TALKHOUSE, "ingest", corpus, str(source), "--db", str(warehouse)]
    done = subprocess.run([sys.executable, "-m", "benchmarks.command", *command], check=True, stdout=subprocess.PIPE)
    used: dict[str, float] = json.loads(done.stdout)
    return used | {"result": warehouse.stat().st_size / 1e6}


def main() -> None:
    """Run the command that the arguments are, and tell what it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    if status:
        sys.exit(f"{' '.join(sys.argv[1:])} ended with {os.waitstatus_to_exitcode(status)}")
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6
    print(json.dumps({"process": seconds, "cpu": cpu, "peak": peak}))


if __name__ == "__main__":
    main()
