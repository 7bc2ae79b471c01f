"""The two files of image addresses, one JSON object each: a record of its own, with a row for each image."""

from collections.abc import Iterator

from ingest import decode
from ingest.corpora.mpchat.format import CORPUS
from ingest.corpora.mpchat.given import Files
from ingest.outcomes import Loaded, Outcome, SourceLocation, reject
from ingest.rows import Image, Record, Row
from ingest.sources import SourceFile

KINDS = {"dialog_image_urls.json": "dialogue", "persona_image_urls.json": "persona"}


def read_images(file: SourceFile, files: Files) -> Iterator[Outcome]:
    """Turn one file into its record and images; a file that is no object of texts is refused."""
    place = SourceLocation(file, subset=file.name.removesuffix(".json"), size=file.size)
    raw = file.read()
    try:
        urls: dict[str, str | None] = decode.record(raw, dict[str, str | None], rule="MP-01").value
    except decode.BadRecord as bad:
        yield reject(place, bad, raw)
        return
    given = files.take(file, place.subset or "")
    record = Record(
        record_id=given.prefix,
        corpus_id=CORPUS,
        dialogue_id=None,
        native_id=None,
        main_speaker_id=None,
        subset=place.subset,
        release=None,
        split=None,
        standard_split=None,
        record_index=0,
        source_file_id=file.id,
        source_pointer="",
        extra=decode.dump({"repeats": given.repeats} if given.repeats else {}),
    )
    kind = KINDS[file.name] + given.variant
    images: list[Row] = [
        Image(CORPUS, kind, image_id, url, file.id, index) for index, (image_id, url) in enumerate(urls.items())
    ]
    yield Loaded(place, [record, *images], given.notes())
