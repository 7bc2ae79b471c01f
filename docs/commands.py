"""Writes the page of all commands from their help, by Typer's own program for it."""

import re
import subprocess
import sys

_PROGRAM = [sys.executable, "-m", "typer", "talkhouse.cli.commands", "utils", "docs", "--name", "talkhouse"]
_EXAMPLES = re.compile(r"^Examples?:\n((?:    .*\n|\n)+)", re.MULTILINE)
_MARKUP = re.compile(r"</?span[^>]*>")


def commands_page() -> str:
    """Return the page as Markdown."""
    done = subprocess.run([*_PROGRAM, "--title", "Commands"], capture_output=True, text=True, check=True)
    text = _MARKUP.sub("", done.stdout).replace("&#x27;", "'").replace("&quot;", '"')
    return _EXAMPLES.sub(_in_a_block, text).strip() + "\n"


def _in_a_block(examples: re.Match[str]) -> str:
    lines = [line.strip() for line in examples[1].splitlines() if line.strip()]
    return "\n".join(["```sh", *lines, "```", "", ""])
