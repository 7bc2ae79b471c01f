"""A model of the user's that turns texts into vectors: a folder on this machine, read without the network."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talkhouse.ingest.files.limits import DEFAULT
from talkhouse.schema.errors import UsageError
from talkhouse.search.principal_components import check_dimensions
from talkhouse.system.files import open_named

if TYPE_CHECKING:
    import numpy as np

_EXTRA = "type: pip install 'talkhouse[embeddings]'"

_FILES = {".json": DEFAULT.record, ".safetensors": DEFAULT.file}
"""Endings of the files that decide what a model says, and how many bytes one may have."""

_TENSORS = {"embeddings": 2, "embedding.weight": 2, "mapping": 1, "weights": 1}
"""Those that model2vec reads, with the dimensions that they should have."""

_PIECE = 1_000_000


class TextModel:
    """A static model of model2vec: a vector is the mean of those of the words."""

    def __init__(self, folder: Path, digest: str, model: Any) -> None:
        self.name, self.sha256, self._folder, self._model = folder.name, digest, folder, model
        self.dimensions: int = model.dim

    def encode(self, texts: Sequence[str]) -> "np.ndarray":
        """Return a vector for each text, zeros for one that has no word of the model."""
        import numpy as np

        # The characters that can't be written as UTF-8 have no word anyway.
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        with _readable(self._folder):
            return np.asarray(self._model.encode(readable, use_multiprocessing=False), dtype=np.float32)


def open_model(name: str, *, download: bool = False) -> TextModel:
    """Open the model in a folder; ``download`` fetches one of the Hugging Face Hub by its name, where it is no folder.

    Without it nothing connects to anything. Raises UsageError where there is no such folder or model, or no model2vec.
    """
    folder = Path(name)
    if not folder.is_dir():
        folder = _downloaded(name) if download else _no_folder(name)
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # read where the libraries are imported
    digest = _digest(folder)
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise UsageError("this needs model2vec", next_step=_EXTRA) from error
    with _readable(folder):
        _check(folder)
        model = StaticModel.from_pretrained(folder)
        rows, places = len(model.embedding), model.token_mapping
        if places is not None and len(places) and not 0 <= int(places.min()) <= int(places.max()) < rows:
            raise ValueError(f"its mapping names more than its {rows:,} vectors")
    return TextModel(folder.resolve(), digest, model)


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """Turn what the libraries raise, of no common kind, into UsageError."""
    try:
        yield
    except (UsageError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # in Rust a library may panic, which is no Exception
        raise UsageError(
            "the model can't be read",
            where=folder,
            expected="a folder as model2vec saves it: config.json, model.safetensors, tokenizer.json",
            found=(str(error) or type(error).__name__)[:300],
        ) from error


def _check(folder: Path) -> None:
    """Raise ValueError or UsageError where vectors and words don't belong together: the libraries believe them.

    They take room for as many words as the largest number of one.
    """
    for path in folder.rglob("tokenizer.json"):
        vectors = path.with_name("model.safetensors")
        if not vectors.is_file():
            continue
        words = json.loads(path.read_bytes())
        of_model = words["model"]["vocab"]
        numbers = of_model.values() if isinstance(of_model, dict) else [len(of_model) - 1]
        most = max([*numbers, *(token["id"] for token in words.get("added_tokens", ()))], default=0)
        with vectors.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(min(length, DEFAULT.record)))
        shapes = {name: tensor["shape"] for name, tensor in header.items() if name != "__metadata__"}
        for name, levels in _TENSORS.items():
            if (shape := shapes.get(name)) is None:
                continue
            # Where there is a mapping, the number of a word is a place in that, and not among the vectors.
            if len(shape) != levels or (shape[0] <= most and not (levels == 2 and "mapping" in shapes)):
                raise ValueError(f"its words have numbers up to {most:,}, and {name} has the shape {shape}")
            if levels == 2:
                check_dimensions(shape[1], vectors)


def _no_folder(name: str) -> Path:
    raise UsageError(
        "there is no such folder",
        where=name,
        expected="a folder as model2vec saves it, read without the network",
        next_step="name the folder; or, for a model of the Hugging Face Hub, add --download, which fetches it",
    )


def _downloaded(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise UsageError("this needs model2vec", next_step=_EXTRA) from error
    try:
        return Path(snapshot_download(name, allow_patterns=[f"*{ending}" for ending in _FILES]))
    except Exception as error:  # of the library, or of the network
        raise UsageError(
            "the model can't be fetched",
            where=name,
            expected="the name of a model of the Hugging Face Hub, such as OWNER/NAME",
            found=(str(error) or type(error).__name__).splitlines()[0][:300],
        ) from error


def _digest(folder: Path) -> str:
    """Return a hash of the names and contents of a model's files."""
    found = sha256()
    for path in sorted(file for file in folder.rglob("*") if file.suffix in _FILES):
        with open_named(path, "name the folder of a model") as stream:
            if (size := os.fstat(stream.fileno()).st_size) > (most := _FILES[path.suffix]):
                raise UsageError(
                    "a file of the model is too large",
                    where=path,
                    expected=f"at most {most:,} bytes",
                    found=f"{size:,}",
                )
            content = sha256()
            while piece := stream.read(_PIECE):
                content.update(piece)
        found.update(f"{path.relative_to(folder).as_posix()} {content.hexdigest()}\n".encode())
    return found.hexdigest()
