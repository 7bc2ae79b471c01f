"""Vectors in batches, by NumPy: divided by their length, and the two directions along which they vary most."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from talkhouse.schema.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from pyarrow import lib as pa


_MOST = 16_384
"""Dimensions; models have some hundreds or thousands."""


def check_dimensions(number: int, where: Path) -> None:
    """Raise UsageError for vectors of too few numbers, or too many."""
    if not 1 <= number <= _MOST:
        raise UsageError(
            "vectors have too few numbers, or too many", where=where, expected=f"1 to {_MOST:,}", found=f"{number:,}"
        )


def of_length_one(rows: "pa.RecordBatch", of: str) -> "tuple[np.ndarray, np.ndarray]":
    """Return the last column, vectors, each divided by its length, and which of them are zeros.

    Raises UsageError for what is no number.
    """
    import numpy as np

    values = rows.columns[-1].flatten()
    vectors = values.to_numpy(zero_copy_only=False).astype(np.float64).reshape(rows.num_rows, -1)
    wrong = ~np.isfinite(vectors).all(axis=1)  # an empty value has become nan
    if wrong.any():
        first = int(wrong.argmax())
        turn = rows.slice(first, 1).to_pylist()[0]
        raise UsageError(
            "a vector has a value that is no number",
            where=of,
            expected="numbers, neither nan nor infinity nor empty",
            found=f"{vectors[first][~np.isfinite(vectors[first])][0]} in {turn['owner']}#{turn['turn_index']}",
        )
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    is_zero = largest[:, 0] == 0
    vectors /= np.where(largest == 0, 1, largest)  # or the square of a large number has no room
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32), is_zero


_BLOCK, _STEPS, _EXACT = 8, 12, 1e-7
"""Directions that are tried at once, how often others are, and what may be missing, of the largest variance."""


def components_of(sample: "Sequence[np.ndarray]", dimensions: int) -> "Components":
    """Return the first two principal components of vectors of length 1, in batches; of equal ones always the same.

    By Lanczos' method in blocks, in room for some vectors: a matrix of all covariances has the square of dimensions.
    """
    import numpy as np

    count = max(sum(map(len, sample)), 1)
    mean = sum((batch.sum(axis=0, dtype=np.float64) for batch in sample), np.zeros(dimensions)) / count
    total = sum(float(np.square(batch - mean).sum()) for batch in sample) / count
    start = np.random.default_rng(0).standard_normal((dimensions, min(_BLOCK, dimensions)))
    block, _ = np.linalg.qr(start)
    basis = images = np.empty((dimensions, 0))
    for _ in range(_STEPS):
        image = np.zeros(block.shape)
        for batch in sample:
            centred = batch - mean
            image += centred.T @ (centred @ block)
        basis, images = np.hstack([basis, block]), np.hstack([images, image / count])
        variances, turned = np.linalg.eigh(basis.T @ images)
        best, least = turned[:, ::-1][:, :2], _EXACT * variances[-1]
        rest = image / count
        for _ in range(2):  # once leaves what was rounded
            rest = rest - basis @ (basis.T @ rest)
        others, sizes = np.linalg.qr(rest)
        missing = np.linalg.norm(sizes @ best[-block.shape[1] :], axis=0).max()
        block = others[:, np.abs(sizes.diagonal()) > least]
        if missing <= least or not block.shape[1]:
            break
    first = basis @ best
    # A component has no direction of its own: the largest of its numbers is positive.
    first = first * np.sign(first[np.abs(first).argmax(axis=0), range(first.shape[1])])
    return Components(first, mean @ first, min(float(variances[-2:].sum()) / total, 1.0) if total > 0 else 0.0)


@dataclass(frozen=True)
class Components:
    """Two axes, along which vectors vary most."""

    axes: "np.ndarray"
    origin: "np.ndarray"
    """The mean of the vectors, along each axis."""
    share: float
    """Of the variance, what the two have."""

    def places(self, vectors: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
        """Return the coordinates of vectors on each axis; of one dimension, 0 on the second."""
        import numpy as np

        along = (vectors @ self.axes - self.origin).astype(np.float32)
        return along[:, 0], along[:, 1] if self.axes.shape[1] > 1 else np.zeros_like(along[:, 0])


def as_arrow(vectors: "np.ndarray") -> "pa.Array":
    """Return vectors as Arrow's lists of one length."""
    from pyarrow import lib as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
