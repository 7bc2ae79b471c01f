"""The two files of image addresses, one JSON object each: a record of its own, with a row for each image."""

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat.files import IMAGE_FILES
from talkhouse.ingest.corpora.mpchat.format import CORPUS
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFiles
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation, reject
from talkhouse.ingest.rows import Image, Row
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord


def read_images(file: SourceFile, files: InputFiles) -> Iterator[Outcome]:
    """Turn one file into its record and images; a file that is not an object of texts is rejected."""
    subset = file.name.removesuffix(".json")
    location = SourceLocation(file, subset=subset, size=file.size)
    raw = file.read_record()
    try:
        urls = _urls(raw)
    except BadRecord as bad:
        yield reject(location, bad, raw)
        return
    input_file = files.take(location, subset)
    kind = IMAGE_FILES[file.name] + input_file.prefix.removeprefix(f"{CORPUS}/{subset}")
    rows: list[Row] = [location.record(input_file.prefix, extra={"repeats": input_file.repeats})]
    rows += (Image(CORPUS, kind, image_id, url, file.id, index) for index, (image_id, url) in enumerate(urls.items()))
    yield Loaded(location, rows, input_file.findings("MP-13"))


def _urls(raw: bytes) -> dict[str, str | None]:
    """Return the addresses by image; raises BadRecord: MP-01 where one is no text, or a common rule."""
    members = decode.record(raw, dict[str, Raw], rule="MP-01").value
    for image_id, address in members.items():
        try:
            decode.decoder(str | None).decode(address)
        except msgspec.ValidationError as error:
            raise BadRecord("MP-01", str(error), decode.pointer(image_id)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(raw, error) from error
    return decode.record(raw, dict[str, str | None], rule="MP-01").value


def write_images(stored: StoredRecord) -> bytes:
    """Return the whole file."""
    return msgspec.json.encode({image.image_id: image.url for image in stored.images})
