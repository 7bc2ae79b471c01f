"""MANtIS: information-seeking conversations between two people, from 14 sites of Stack Exchange."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from talkhouse.ingest.corpora.mantis.format import SPLITS
from talkhouse.ingest.corpora.mantis.read import read
from talkhouse.ingest.corpora.mantis.write import text_ids_of, write, write_record
from talkhouse.ingest.corpus import Corpus, LicenceTerms, MakeOptions, WrongInput, about
from talkhouse.ingest.progress import Progress

_VERSIONS = (("2.5", None, "2011-04-08"), ("3.0", "2011-04-08", "2018-05-02"), ("4.0", "2018-05-02", None))
"""Versions of CC BY-SA, each with the day from which, and that before which, posts of Stack Exchange are under it."""


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
    splits=SPLITS,
    read=read,
    write=write,
    text_ids_of=text_ids_of,
    write_record=write_record,
    make=_make,
)
