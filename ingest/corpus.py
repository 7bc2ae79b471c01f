"""What a corpus declares, in Python and in its ``about.toml``; and how a maker makes one of its publisher's sources."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, get_type_hints

import msgspec

from talkhouse.ingest.common_rules import Rule
from talkhouse.ingest.files.archives import points_outside as points_outside
from talkhouse.ingest.files.seven_zip import ReaderMissing as ReaderMissing
from talkhouse.ingest.files.seven_zip import SevenZip as SevenZip
from talkhouse.ingest.keys import Memory, Tallies
from talkhouse.ingest.outcomes import Outcome, Reader, ReaderFinding
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import RecordWriter, TextReferences, Writer, no_text_ids
from talkhouse.schema.errors import TalkhouseError


class NotMade(TalkhouseError):
    """A corpus can't be made from these inputs."""


class WrongInput(NotMade):
    """An input or an option is not what a maker takes; nothing was begun."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """What a user asks for."""

    sites: Sequence[str] = ()
    """Only these, in this order; empty: all."""
    thresholds: Mapping[str, float] | None = None
    """Lowest sentiment of a last utterance, by site, where it is not the maker's own."""
    negatives: Sequence[int] = ()
    """Sizes of the sets of wrong responses; empty: none."""
    seed: int = 0
    jobs: int = 1
    """Processes that work at the same time."""


Maker: TypeAlias = Callable[[Sequence[Path], MakeOptions, Path | None, Progress], Mapping[str, Any]]
"""Takes inputs, options, and a folder to write to (None in a dry run); returns the manifest, which it has written too.

Raises WrongInput or NotMade. The same inputs, options and version of Talkhouse give the same bytes.
"""


API = 1
"""What ``Corpus.api`` has to be: raised when a corpus that was written for the API before no longer works."""


@dataclass(frozen=True)
class Scheme:
    """An annotation scheme: what is labelled, and what each label means."""

    name: str
    description: str
    target: Literal["turn", "dialogue", "record", "persona"]
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels with their meanings, in so far as the reader does not find them in the data (``rows.Label``)."""
    kind: Literal["single_label", "multi_label", "structure"] | None = None
    """``single_label``: each annotator gives a thing one label, so that annotators can be compared; ``multi_label``:
    any number at once; ``structure``: the labels are parts of one structure, such as acts with slots and values. None:
    ``multi_label`` if some annotator gives a thing several labels, else ``single_label``."""
    scale: Literal["good_to_bad", "ordered"] | None = None
    """How ``labels`` follow one another: from good to bad, or in an order; None: in none. Colours follow it."""


@dataclass(frozen=True)
class Release:
    """One of several publications of a corpus."""

    name: str
    """As the paths of its files name it."""
    title: str
    """What people call it, such as: the original labels."""
    description: str
    """What sets it apart from the others, in a sentence or two."""


@dataclass(frozen=True, kw_only=True)
class Datasheet:
    """What a user should know before using a corpus (Gebru et al. 2021), as far as published; empty: nobody says."""

    motivation: str = ""
    """Its purpose and its makers."""
    composition: str = ""
    """What its dialogues, turns and labels are."""
    collection: str = ""
    """Where the dialogues are from, and who held them, for what pay."""
    labelling: str = ""
    """Who gave the labels, how many to each thing, by what instructions."""
    uses: str = ""
    """What it was used for, and what it is not for."""
    limits: str = ""
    """What it can't show."""
    quirks: tuple[str, ...] = ()
    """What surprises in its files, a sentence or two each."""
    sources: tuple[str, ...] = ()
    """Where all of this is from: the paper and its section, a README, or counted in the files."""


@dataclass(frozen=True)
class Exempt:
    """Something that a check finds and that its publisher means."""

    check: str
    scope: str
    """In the check's own words: two splits ('train/test'), a scheme."""
    reason: str


@dataclass(frozen=True)
class Author:
    """One of the authors of a corpus, as the paper names them."""

    family: str
    given: str = ""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The publication to cite, apart from its authors and year."""

    title: str
    kind: Literal["article", "inproceedings", "misc"] = "misc"
    """As BibTeX calls it."""
    venue: str = ""
    """The journal, or the proceedings."""
    doi: str | None = None
    arxiv: str | None = None
    """Its id there, such as 1912.04639."""
    url: str | None = None
    """Of a publication that has neither of the two."""


@dataclass(frozen=True, kw_only=True)
class LicenceTerms:
    """What the licence of a part of a corpus asks of its user. What nobody licensed is ``is_unknown``."""

    part: str = "all"
    spdx: str | None = None
    """Expression of SPDX identifiers, or None if there is none."""
    licence_url: str | None = None
    columns: tuple[str, ...] = ()
    """The columns that the part is, each as ``schema.view.column``, or as ``schema.view.column.member`` where it is one
    member of the objects in a JSON column; none: all that no other part is."""
    said_from: str | None = None
    """The part is only what was said from this day on, as ``2011-04-08``."""
    said_before: str | None = None
    """And before this day."""
    is_attribution: bool = False
    is_share_alike: bool = False
    is_non_commercial: bool = False
    is_unknown: bool = False
    note: str = ""
    """What a user must know of it, in a sentence or two."""


@dataclass(frozen=True, kw_only=True)
class People:
    """What identifies people in a corpus, besides the ids of its speakers and annotators: pseudonyms take its place."""

    are_keys_public: bool = False
    """Whether ids of dialogues, records and personas lead to public pages, and so to who wrote them."""
    members: tuple[str, ...] = ()
    """Members of any ``extra`` that do, such as ``carried.workers``."""
    note: str = ""
    """What to know before publishing the corpus with pseudonyms, in a sentence or two."""


@dataclass(frozen=True)
class Source:
    """A file as its publisher offers it; a build says which are missing, and which have another checksum."""

    path: str
    """Inside the corpus's folder, or inside a folder there."""
    url: str
    sha256: str | None = None
    """64 lower case hex digits, or None if it is not known."""
    holds: tuple[str, ...] = ()
    """Of an archive: files that stand for it, all together, where a user has unpacked it."""
    size: int | None = field(default=None, kw_only=True)
    """Bytes, or None if that is not known."""
    note: str = field(default="", kw_only=True)
    """Why there is no checksum, or what else to know of the file."""


class PartsReader(Protocol):
    """Reads some of a corpus's files as ``Corpus.read`` reads all of them; it can be sent to another process."""

    @property
    def together(self) -> bool:
        """Whether all files are one part, since one is read by what others say."""

    def corpus(self) -> "Corpus":
        """Return the corpus."""

    @property
    def has_speaker_facts(self) -> bool:
        """Whether a file can say of a speaker what another one does not."""

    def sort_out(self, files: list[SourceFile], others: Collection[str] = ()) -> tuple[list[Outcome], list[SourceFile]]:
        """Return the outcomes of files passed over, which ``read`` yields first, and the files that are left.

        ``others``: the paths of the corpus's other files, archives taken as folders.
        """

    def read(self, files: list[SourceFile], memory: Memory) -> Iterator[Outcome]:
        """Read some of those that are left; nothing else of what was read before may count than what is in the memory.

        No labels are declared by such files (``rows.Label``).
        """

    def end(self, tallies: Tallies) -> Iterator[tuple[str, ReaderFinding]]:
        """Yield what is found of all files together, by what was counted in each: a file's id and the finding."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Everything that is particular to one corpus; it is ``CORPUS`` of a folder, or named by an entry point."""

    id: str
    version: int
    """Raise it when ``read`` changes what it yields: the corpus is then loaded again."""
    title: str
    description: str
    homepage: str
    licence: str
    licence_url: str | None = None
    terms: str = ""
    licence_terms: tuple[LicenceTerms, ...] = ()
    """What its licences ask, part by part; none: as the identifier says that ``licence`` is, if it is one."""
    citation: str
    authors: tuple[Author, ...] = ()
    year: int | None = None
    reference: Reference | None = None
    people: People | None = None
    """None: nobody has said; whatever may lead to people is then taken to do so."""
    languages: tuple[str, ...]
    files: str
    """The files that the reader reads, in words, for messages."""
    sources: tuple[Source, ...] = ()
    by_hand: str = ""
    """What is not among the sources since no address gives it as a file, and how to get it; a sentence or two."""
    splits: Mapping[str, str | None] = field(default_factory=dict)
    """The publisher's splits, each with its standard name (train, validation, test) or None."""
    releases: tuple[Release, ...] = ()
    """Where it was published more than once: the publisher's releases in order of preference. The default
    publication of a dialogue is in the first that has a record of it; those that none declares come last, by name."""
    schemes: tuple[Scheme, ...] = ()
    datasheet: Datasheet | None = None
    rules: tuple[Rule, ...] = ()
    common_rules: tuple[str, ...] = ("TH-01", "TH-02", "TH-03", "TH-04", "TH-05")
    """The common rules that files of this format can break."""
    exceptions: tuple[Exempt, ...] = ()
    """What checks would find, and what is known and meant."""
    has_dialogues_of_files: bool = False
    """Whether a dialogue may go on in the next file, whose record then has its next turns."""
    has_record_per_file: bool = False
    """A rejected file counts as one record, since its number of records is unknown."""
    read: Reader
    write: Writer
    text_ids_of: TextReferences = no_text_ids
    """For a corpus whose records refer to ``main.texts`` in ``extra`` too: the writers then have these texts."""
    write_record: RecordWriter | None = None
    """For ``talkhouse show ID --raw``, which says so where there is none."""
    make: Maker | None = None
    """For ``talkhouse make``, where its publisher says what it was made from."""
    parts: PartsReader | None = None
    """How files are read apart by several processes, where that gives the rows of ``read``: of declared corpora."""
    api: int = 1
    """The API of ``talkhouse.corpus`` that it is written for; another Talkhouse's is refused."""
    folder: Path | None = None
    """The folder that declares it; the registry sets it."""
    declaration: str | None = None
    """The page of TOML that declares it, verbatim, or None if Python does."""


def about(code: str) -> dict[str, Any]:
    """Return the page next to a corpus's ``__init__.py`` as arguments of ``Corpus``.

    Raises ``msgspec.ValidationError``, a ``ValueError``, for a value that a field can't have.
    """
    page = msgspec.toml.decode(Path(code).with_name("about.toml").read_text(encoding="utf-8"))
    return {name: msgspec.convert(value, _types()[name]) for name, value in page.items()}


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(Corpus)
