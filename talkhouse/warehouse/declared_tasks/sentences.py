"""The sentence that says what a task is: the first line of its view, which becomes a comment of the warehouse."""

from talkhouse.ingest.declared.declaration.model import Declaration, Task


def sentence(declaration: Declaration, task: Task) -> str:
    """Return the task's description as one line, or else what its kind says of it, with a full stop at the end."""
    said = one_line(task.description) or one_line(f"{declaration.title}, {_what(task)}")
    return said if said.endswith(".") else f"{said}."


def one_line(text: str) -> str:
    """Return a text without line ends, whatever Unicode takes for one."""
    return " ".join(text.split())


def _what(task: Task) -> str:
    match task.kind:
        case "next_turn":
            who = "that has one before it" if task.role is None else f"of the role {task.role}"
            return f"the next turn: each turn {who}, with all turns before it"
        case "turn_label":
            return f"labels of turns: each turn that has a label of {task.scheme}, with all turns before it"
        case "dialogue_label":
            return f"labels of dialogues: each dialogue that has a label of {task.scheme}, with all its turns"
        case "spans":
            return f"spans: each turn in which words are labelled by {task.scheme}"
        case "preference":
            return "preference: each record with a chosen and a rejected answer, with all turns before them"
