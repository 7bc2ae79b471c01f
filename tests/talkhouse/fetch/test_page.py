"""Pages in the place of files: what they say, and which question is answered where."""

import pytest

from talkhouse.fetch.checks import Page, begins_as_page

FORM = (
    '<form id="download-form" action="{}" method="{}"><input name="id" value="1"/>'
    '<input name="confirm" value="t"></form>'
)
DRIVE = "https://drive.google.com/uc?export=download&id=1"


@pytest.mark.parametrize(
    ("url", "action", "answer"),
    [
        (DRIVE, "https://drive.usercontent.google.com/download", "https://drive.usercontent.google.com/download"),
        (DRIVE, "/uc?export=download", "https://drive.google.com/uc"),
        (DRIVE, "http://drive.usercontent.google.com/download", None),
        (DRIVE, "https://drive.usercontent.google.com.example.org/download", None),
        (DRIVE, "https://drive.usercontent.google.com:444/download", None),
        (DRIVE, "https://me@drive.google.com/download", None),
        ("http://drive.google.com/uc", "https://drive.usercontent.google.com/download", None),
        ("https://example.org/a", "https://drive.usercontent.google.com/download", None),
        ("https://example.org/a", "b", "https://example.org/b"),
    ],
)
def test_a_question_is_answered_at_its_own_server_or_the_drives_other(
    url: str, action: str, answer: str | None
) -> None:
    assert Page(FORM.format(action, "GET"), url).confirmed() == (answer and f"{answer}?id=1&confirm=t")


@pytest.mark.parametrize(
    "text",
    [
        FORM.format("/b", "post"),
        FORM.format("/b", "get").replace("download-form", "search"),
        FORM.format("/b", "get").replace("confirm", "sure"),
        "<form><input name=confirm></form>",
        "",
    ],
)
def test_no_other_form_is_filled_in(text: str) -> None:
    assert Page(text, "https://example.org/a").confirmed() is None


def test_what_a_page_says_is_short() -> None:
    page = Page("<title> Quota\n exceeded</title><style>x</style><script>y</script><p>Try <b>later</b>" + "z" * 999, "")
    assert page.says.startswith("a page, 'Quota exceeded': Try later zz")
    assert len(page.says) < 300


@pytest.mark.parametrize(
    ("start", "path", "is_page"),
    [
        (b"\xef\xbb\xbf\n <!DocType HTML>", "a.zip", True),
        (b"<html lang='en'>", "a.json", True),
        (b"<html>", "a.html", False),
        (b"<xml>", "a.xml", False),
        (b"PK", "a.zip", False),
    ],
)
def test_pages_are_known_by_their_first_bytes(start: bytes, path: str, is_page: bool) -> None:
    assert begins_as_page(start, path) == is_page
