"""On what the runs were made."""

import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

_NAMES = ("talkhouse", "duckdb", "polars", "sqlalchemy", "msgspec")


def machine() -> dict[str, str]:
    """Return the facts that decide how fast a run is."""
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": f"{processor}, {psutil.cpu_count()} logical cores",
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "system": platform.platform(terse=True),
        "Python": sys.version.split()[0],
        "versions": ", ".join(f"{name} {version(name)}" for name in _NAMES),
        "busy": f"{psutil.getloadavg()[0]:.1f} processes on average in the minute before",
    }
