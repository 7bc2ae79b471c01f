# /// script
# requires-python = ">=3.11"
# dependencies = ["convokit==5.0.0"]
# ///
"""Makes a ConvoKit corpus of MANtIS's conversations, as "Converting Datasets into ConvoKit Format" does, and writes it.

convokit_corpus.py FILE FOLDER

ConvoKit reads no JSON but its own: the file is parsed by the standard library, as in its example.
"""

import json
import sys
from pathlib import Path

from convokit import Corpus, Speaker, Utterance

path, folder = map(Path, sys.argv[1:])
with path.open("rb") as stream:
    dialogues = json.load(stream)

speakers: dict[str, Speaker] = {}
utterances = []
for key, dialogue in dialogues.items():
    before = None
    for number, spoken in enumerate(dialogue["utterances"]):
        person = str(spoken["user_id"])
        speaker = speakers.setdefault(person, Speaker(id=person, meta={"name": spoken["user_name"]}))
        utterance = Utterance(
            id=f"{key}-{number}",
            speaker=speaker,
            conversation_id=f"{key}-0",
            reply_to=before,
            timestamp=spoken["utterance_time"],
            text=spoken["utterance"],
            meta={name: spoken[name] for name in ("utterance_pos", "actor_type", "votes", "id", "is_answer")},
        )
        utterances.append(utterance)
        before = utterance.id
corpus = Corpus(utterances=utterances)
for key, dialogue in dialogues.items():
    meta = {name: value for name, value in dialogue.items() if name != "utterances"}
    corpus.get_conversation(f"{key}-0").meta.update(meta)
corpus.dump(folder.name, base_path=str(folder.parent))
