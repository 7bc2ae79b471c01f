"""MANtIS: information-seeking conversations between two people, from 14 sites of Stack Exchange."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from talkhouse.ingest.corpora.mantis.format import INTENT, SPLITS
from talkhouse.ingest.corpora.mantis.read import read
from talkhouse.ingest.corpora.mantis.rules import RULES
from talkhouse.ingest.corpora.mantis.write import text_ids_of, write, write_record
from talkhouse.ingest.corpus import (
    Author,
    Corpus,
    Datasheet,
    LicenceTerms,
    MakeOptions,
    People,
    Reference,
    Scheme,
    Source,
)
from talkhouse.ingest.progress import Progress

DATASHEET = Datasheet(
    motivation=(
        "Made by G. Penha, A. Balan and C. Hauff (TU Delft) for research on conversational search: conversations in "
        "which somebody looks for information, in several domains, and grounded in web pages."
    ),
    composition=(
        "80,324 conversations from 14 sites of Stack Exchange, from 1,300 (worldbuilding) to 17,755 (askubuntu). One "
        "person asks (user), another answers (agent), and the two go on in the comments. 1,356 conversations with "
        "6,701 utterances have intents. For ranking there are 10 or 50 other responses for each context."
    ),
    collection=(
        "Selected by program from a dump of Stack Exchange, by six conditions: two people, at least two utterances "
        "each, a link in an answer, no spam, no answer marked as edited or deprecated, and, where the asker has the "
        "last word, one that sounds positive. The first three are checked when files are loaded (MA-04); the others "
        "can't be: nothing in the files says what was spam or edited, and the sentiment depends on the version of a "
        "lexicon. Tags but a few were removed, and neighbouring posts of one person joined. Whether those who wrote "
        "the posts were asked is not published."
    ),
    labelling=(
        "Two annotators gave the intents, with an agreement of 0.71 (Krippendorff's alpha), says the README; an "
        "utterance may have several, and 21 % do. The files have the final intents, not those of each annotator. The "
        "other responses for ranking were drawn at random from what BM25 finds for the right one."
    ),
    uses="Ranking responses in a conversation, writing them, and telling what an utterance is meant to do.",
    limits=(
        "Written English of 14 sites, most of them technical. Conversations of three or more people were left out, and "
        "so were those that ended badly. The other responses are not known to be wrong: nobody has judged them."
    ),
    quirks=(
        "Keys of conversations begin at 0 again in each split.",
        "Each answer to a question is a conversation of its own, so that title and question repeat.",
        "Opening tags of links are kept, and closing ones are gone; neighbouring posts of a person are joined without "
        "a blank.",
        "Some of the other responses may be bare numbers, repeated, or the right response: a fault of the sampling.",
        "The files labels.txt and labels_2.txt in the repository have no labels.",
        "The meanings of the intents are from the corpus's README, which names no codes; the codes are MSDialog's.",
    ),
    sources=(
        "Paper (arXiv 1912.04639) and README of the repository: conditions, intents, agreement.",
        "README of the repository before it (conversational-search-dataset): conversations of each site.",
        "The authors' code: how conversations were selected, split and cleaned, and how responses were drawn.",
    ),
)


_VERSIONS = (("2.5", None, "2011-04-08"), ("3.0", "2011-04-08", "2018-05-02"), ("4.0", "2018-05-02", None))
"""Versions of CC BY-SA, each with the day from which, and that before which, posts of Stack Exchange are under it."""

_DRIVE = "https://drive.google.com/uc?export=download&id="
_NO_SUM = "the authors publish none, and neither does Google Drive"


def _make(inputs: Sequence[Path], options: MakeOptions, folder: Path | None, progress: Progress) -> Mapping[str, Any]:
    # Needs an XML parser, which other commands spare.
    from talkhouse.ingest.corpora.mantis.make.from_dumps import make

    return make(inputs, options, folder, progress)


CORPUS = Corpus(
    id="mantis",
    version=10,
    title="MANtIS: a Multi-Domain Information Seeking Dialogues Dataset",
    description=(
        "80,000 conversations from 14 sites of Stack Exchange: one person asks, another answers with at least one "
        "link, and they go on. Two tasks: which response comes next among 10 or 50 others, and what an "
        "utterance is meant to do."
    ),
    homepage="https://guzpenha.github.io/MANtIS/",
    licence="CC BY-SA",
    licence_url="https://meta.stackexchange.com/questions/347758",
    terms=(
        "The repository names no licence. The texts are posts of Stack Exchange, which are under CC BY-SA: version "
        "2.5 before 2011-04-08, 3.0 before 2018-05-02, 4.0 since then. Name authors, link to the posts, share alike."
    ),
    licence_terms=tuple(
        LicenceTerms(
            part=f"posts under version {version}",
            spdx=f"CC-BY-SA-{version}",
            licence_url=f"https://creativecommons.org/licenses/by-sa/{version}/",
            said_from=said_from,
            said_before=said_before,
            is_attribution=True,
            is_share_alike=True,
            is_unknown=True,
            note=(
                "Name the author, and link to the post and to the author's profile. Nobody has licensed the selection; "
                "a later edit of a post may be under a later version."
            ),
        )
        for version, said_from, said_before in _VERSIONS
    ),
    citation=(
        "G. Penha, A. Balan, C. Hauff: Introducing MANtIS: a novel Multi-Domain Information Seeking Dialogues Dataset. "
        "2019. arXiv 1912.04639."
    ),
    authors=(Author("Penha", "Gustavo"), Author("Balan", "Alexandru"), Author("Hauff", "Claudia")),
    year=2019,
    reference=Reference(
        title="Introducing MANtIS: a novel Multi-Domain Information Seeking Dialogues Dataset", arxiv="1912.04639"
    ),
    people=People(
        are_keys_public=True,
        note=(
            "CC BY-SA asks for the authors' names and for links to the posts, and pseudonyms take both away: one can't "
            "have the two. Any text can be looked up on Stack Exchange."
        ),
    ),
    languages=("en",),
    files=(
        "merged_train.json, merged_train_intents.json, data_train_easy.tsv, data_train_easy_lookup.txt, "
        "data_train.tsv, data_train_lookup.txt, the same for dev and test, a .csv of intents, or an archive "
        "or folder with these"
    ),
    sources=(  # two have the publisher's names; those of the others are known from no code that reads them
        Source("mantis.7z", f"{_DRIVE}1cWEbTC4klLQDLej--IG2OAZIT4AX549A", note=_NO_SUM),
        Source("json_dataset_with_intents.7z", f"{_DRIVE}1JI9VAuHllyZxr7XhTYLhx7iI2EVd3-a4", note=_NO_SUM),
        Source("response_ranking_dataset_easy.7z", f"{_DRIVE}1nf_JRR7zIcCLrzvL_vRsuzBxDcD_3g6N", note=_NO_SUM),
        Source("mantis_50.7z", f"{_DRIVE}11_Um52HzjC41M9S-xSAX6HZP25bmi2oq", note=_NO_SUM),
    ),
    splits=SPLITS,
    schemes=(
        Scheme(
            INTENT,
            "What an utterance is meant to do; an utterance may have several intents, in the annotators' order. The "
            "meanings are those of the corpus's README, which names no codes; the codes are MSDialog's.",
            "turn",
            {
                "OQ": "Original question: the utterance that the conversation begins with.",
                "FD": "Further details: one of the two gives more details.",
                "FQ": "Follow-up question: who asked asks further questions about the matter.",
                "IR": "Information request: one of the two asks for clarification or further information.",
                "PA": "Potential answer: a possible solution, by the one who answers.",
                "PF": "Positive feedback: who asked says that a solution is good.",
                "NF": "Negative feedback: who asked says that a solution is not.",
                "GG": "Greetings or gratitude.",
                "O": "Other: what fits into none of the categories.",
            },
            kind="multi_label",
        ),
    ),
    datasheet=DATASHEET,
    rules=RULES,
    read=read,
    write=write,
    text_ids_of=text_ids_of,
    write_record=write_record,
    make=_make,
)
