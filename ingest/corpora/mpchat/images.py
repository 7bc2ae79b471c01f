"""The two files of image addresses, one JSON object each: a record of its own, with a row for each image."""

from ingest import decode
from ingest.corpora.mpchat.shapes import CORPUS
from ingest.corpus import Loaded, Place, Rejected, reject
from ingest.rows import Image, Record, Row
from ingest.sources import SourceFile

KINDS = {"dialog_image_urls.json": "dialogue", "persona_image_urls.json": "persona"}


def read_images(file: SourceFile) -> Loaded | Rejected:
    """Turn one file into its record and images; a file that is no object of texts is refused."""
    place = Place(file, subset=file.name.removesuffix(".json"), size=file.size)
    raw = file.read()
    try:
        urls: dict[str, str | None] = decode.record(raw, dict[str, str | None], rule="MP-01").value
    except decode.BadRecord as bad:
        return reject(place, bad, raw)
    record = Record(
        record_id=f"{CORPUS}/{place.subset}",
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
    )
    images: list[Row] = [
        Image(CORPUS, KINDS[file.name], image_id, url, file.id, index)
        for index, (image_id, url) in enumerate(urls.items())
    ]
    return Loaded(place, [record, *images])
