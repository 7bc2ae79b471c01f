"""Names of a file's columns, each once: a name that is there again gets ``~`` and a number."""


def unique_names(columns: list[str]) -> list[str]:
    """Return a name for each column, the same whenever the same columns are given."""
    names: list[str] = []
    taken = set(columns)
    seen: set[str] = set()
    for column in columns:
        name, number = column, 2
        if column in seen:
            while (name := f"{column}~{number}") in taken:
                number += 1
            taken.add(name)
        seen.add(column)
        names.append(name)
    return names
