"""Why negatives can't be drawn."""


class TooFewTexts(Exception):
    """A corpus has fewer texts beside a response than negatives are asked for."""

    def __init__(self, category: str | None, distinct_texts: int, negatives: int, largest: int) -> None:
        super().__init__(category, distinct_texts, negatives, largest)
        self.category = category
        """The category whose documents they are; None for all documents."""
        self.distinct_texts = distinct_texts
        self.negatives = negatives
        self.largest = largest
        """The largest number of negatives that every context of this corpus can have."""

    def __str__(self) -> str:
        where = "all categories together have" if self.category is None else f"category {self.category} has"
        return f"{where} {self.distinct_texts} texts; at most {self.largest} negatives, not {self.negatives}"


class WorkerEnded(Exception):
    """A process that draws negatives ended before its work was done."""

    def __init__(self, returncode: int) -> None:
        super().__init__(returncode)
        self.returncode = returncode
        """As subprocess has it: negative for the signal that ended the process."""

    def __str__(self) -> str:
        how = f"by signal {-self.returncode}" if self.returncode < 0 else f"with exit code {self.returncode}"
        return f"a process that draws negatives ended {how}"
