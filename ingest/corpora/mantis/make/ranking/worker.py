"""A process that draws negatives: requests come in on standard input, a line of JSON for several; so go the answers.

It ends with its input, so also where the process that started it was killed.
"""

import os
import sys
from pathlib import Path

import msgspec

from talkhouse.ingest.corpora.mantis.make.ranking.sampler import Request, Sampler, opened


def main(folder: str, count: str) -> None:
    """Answer requests over the corpora in a folder until there are no more."""
    sampler = Sampler(opened(Path(folder)), int(count))
    decoder = msgspec.json.Decoder(list[Request])
    for line in sys.stdin.buffer:
        answers = [sampler.draw(request) for request in decoder.decode(line)]
        try:
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(1)  # nobody reads any more; no message, as the interpreter would print at its end


if __name__ == "__main__":
    main(*sys.argv[1:])
