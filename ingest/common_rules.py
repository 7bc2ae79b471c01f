"""What a rule is, and the rules that hold for every corpus, as ``common_rules.toml`` has them."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import msgspec

from talkhouse.schema.toml_files import toml_of

Severity: TypeAlias = Literal["reject_file", "reject_dialogue", "reject_example", "warn", "note"]


@dataclass(frozen=True)
class Rule:
    """A rule that a source record can break: when it applies, how severe that is, and what to do."""

    id: str
    severity: Severity
    condition: str
    remedy: str


@cache
def shared_rules() -> tuple[Rule, ...]:
    """Return the rules that several corpora share."""
    return msgspec.convert(toml_of(__file__, "common_rules")["rules"], tuple[Rule, ...])


def format_rules() -> tuple[Rule, ...]:
    """Return the rules of the formats that ``corpus.toml`` may name, for every corpus that is declared so."""
    return tuple(rule for rule in shared_rules() if rule.id.startswith("GF-"))
