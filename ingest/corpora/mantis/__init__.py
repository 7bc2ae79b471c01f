"""MANtIS: information-seeking conversations between two people, from 14 sites of Stack Exchange."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from talkhouse.ingest.corpora.mantis.format import SPLITS
from talkhouse.ingest.corpora.mantis.read import read
from talkhouse.ingest.corpora.mantis.write import text_ids_of, write, write_record
from talkhouse.ingest.corpus import Corpus, MakeOptions, WrongInput, about
from talkhouse.ingest.progress import Progress


def _make(inputs: Sequence[Path], options: MakeOptions, folder: Path | None, progress: Progress) -> Mapping[str, Any]:
    try:
        # Needs an XML parser, which other commands spare.
        from talkhouse.ingest.corpora.mantis.make.from_dumps import make

        return make(inputs, options, folder, progress)
    except ImportError as error:
        next_step = "type: pip install 'talkhouse[make]'"
        raise WrongInput("this needs packages that are not installed", found=str(error), next_step=next_step) from error


CORPUS = Corpus(
    id="mantis",
    version=10,
    **about(__file__),
    splits=SPLITS,
    read=read,
    write=write,
    text_ids_of=text_ids_of,
    write_record=write_record,
    make=_make,
)
