"""Predictions of the evaluation set of the samples, and what is right of it: by plain Python, from the raw files."""

import csv
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from talkhouse.ingest.registry.origins import OWN
from tests.samples import RELEASES

BREAKDOWNS = f"{RELEASES}.breakdown_detection"
OF_EVALUATION = ["--release", RELEASES, "--split", "eval"]

LABELS = "OTX"


def gold() -> dict[tuple[str, int], str]:
    """Read what most annotators say of each system turn, from the raw files of the evaluation set."""
    found = {}
    for path in sorted((OWN / RELEASES / "sample" / "DBDC3").glob(f"{RELEASES}/*/eval/*/*.log.json")):
        language, _, folder = path.parts[-4:-1]
        for turn in json.loads(path.read_text(encoding="utf-8"))["turns"]:
            votes = Counter(annotation["breakdown"] for annotation in turn["annotations"])
            if votes:
                record = f"{RELEASES}/{RELEASES}/{language}/{folder}/{path.name.partition('.')[0]}"
                found[record, turn["turn-index"]] = max(LABELS, key=lambda label: votes[label])
    return found


def predict(path: Path, keys: Sequence[tuple[str, int]], seed: int) -> dict[tuple[str, int], tuple[str, float]]:
    """Write predictions as a system might; return each label with its probability."""
    drawn, found = random.Random(seed), {}  # noqa: S311 - no secret
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["record_id", "turn_index", "label", "prob_o", "prob_t", "prob_x"])
        for key in keys:
            parts = [drawn.random() for _ in LABELS]
            probabilities = [part / sum(parts) for part in parts]
            most = max(probabilities)
            found[key] = LABELS[probabilities.index(most)], most
            rows.writerow([*key, found[key][0], *probabilities])
    return found
