"""What a part of a process took: seconds, and processor seconds of the process and of all that it has started."""

import resource
import time
from collections.abc import Callable

import psutil

Times = dict[str, float]


def timed(action: Callable[..., object], *arguments: object) -> Times:
    """Do something, and return its ``seconds`` and ``cpu`` (processor seconds)."""
    used, begun = processor_seconds(), time.perf_counter()
    action(*arguments)
    return {"seconds": time.perf_counter() - begun, "cpu": processor_seconds() - used}


def processor_seconds() -> float:
    """Return the processor seconds of this process and its descendants so far, those that have ended included."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Of a process that still runs, in hundredths; with its own children that have ended.
    others = [sum(child.cpu_times()[:4]) for child in psutil.Process().children(recursive=True)]
    return sum(usage.ru_utime + usage.ru_stime for usage in own) + sum(others)
