"""Run where ``datasets`` is installed, and not the warehouse: open packages, and write down what was read.

    read_with_datasets.py CACHE FOLDER...

Prints JSON: by folder, configuration and split the features and all rows, with the names of classes.
"""

import json
import os
import sys
from typing import Any

os.environ.update({"HF_HOME": sys.argv[1], "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"})

import datasets

datasets.disable_progress_bars()


def decoded(value: Any, feature: Any) -> Any:
    if value is None:
        return None
    if isinstance(feature, datasets.ClassLabel):
        return feature.int2str(value)
    if isinstance(feature, datasets.List):
        return [decoded(item, feature.feature) for item in value]
    return value


def read(folder: str, config: str) -> dict[str, Any]:
    """Read a configuration, at once and streamed, which must be the same."""
    found = {}
    streamed = datasets.load_dataset(folder, config, streaming=True)
    for split, rows in datasets.load_dataset(folder, config).items():
        features = rows.features
        both = [
            [{name: decoded(value, features[name]) for name, value in row.items()} for row in some]
            for some in (rows, streamed[split])
        ]
        assert json.dumps(both[0], default=str) == json.dumps(both[1], default=str), (folder, config, split)
        assert streamed[split].features == features
        found[split] = {"features": {name: str(feature) for name, feature in features.items()}, "rows": both[0]}
    assert [*found] == [*streamed]
    return found


def main() -> None:
    found = {}
    for folder in sys.argv[2:]:
        configs = datasets.get_dataset_config_names(folder)
        found[folder] = {config: read(folder, config) for config in configs}
        # Without a name it is the default, of which there is one.
        datasets.load_dataset(folder)
    print(json.dumps(found, default=str))


main()
