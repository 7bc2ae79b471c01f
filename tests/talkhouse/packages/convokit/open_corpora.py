"""Run with ConvoKit: opens folders, tries each conversation, dumps each corpus, and prints what it has."""

import json
import sys
from pathlib import Path
from typing import Any

from convokit import Corpus  # type: ignore[import-not-found]


def opened(folder: Path) -> dict[str, Any]:
    """Return a folder as ConvoKit reads it, and the errors that its own functions find."""
    corpus = Corpus(filename=str(folder))
    wrong = []
    for conversation in corpus.iter_conversations():
        if not conversation.check_integrity(verbose=False):
            wrong.append(f"{conversation.id} is in pieces")
        turns = [utterance.meta["turn_index"] for utterance in conversation.get_chronological_utterance_list()]
        if turns != sorted(turns):
            wrong.append(f"{conversation.id} is in no order of time: {turns}")
        if len(list(conversation.traverse("dfs"))) != len(turns):
            wrong.append(f"{conversation.id} is not one tree")
    corpus.dump(folder.name, base_path=str(folder.parent / "dumped"))
    return {
        "wrong": wrong,
        "utterances": [
            [
                each.id,
                each.conversation_id,
                each.speaker.id,
                each.text,
                each.reply_to,
                each.timestamp,
                each.meta.to_dict(),
            ]
            for each in corpus.iter_utterances()
        ],
        "speakers": {each.id: [each.is_ai, each.meta.to_dict()] for each in corpus.iter_speakers()},
        "conversations": {each.id: each.meta.to_dict() for each in corpus.iter_conversations()},
        "corpus": corpus.meta.to_dict(),
    }


folders = [Path(name) for name in sys.argv[1:]]
(folders[0].parent / "dumped").mkdir()
print(json.dumps({folder.name: opened(folder) for folder in folders}))
