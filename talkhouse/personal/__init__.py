"""Personal data in texts: where it stands, and what takes its place."""

from enum import StrEnum


class PersonalKind(StrEnum):
    """The kinds, the surest first: where two overlap, the first counts."""

    EMAIL = "email"
    ACCOUNT = "account"
    """The number of a bank account, IBAN, with its checksum."""
    CARD = "card"
    """The number of a payment card, with its checksum."""
    IP = "ip"
    """An address of IPv4 or IPv6."""
    PHONE = "phone"
    NAME = "name"
    """A name after an introduction or a greeting, or in a signature; others are not found."""


TITLES = {
    PersonalKind.EMAIL: "e-mail addresses",
    PersonalKind.ACCOUNT: "account numbers",
    PersonalKind.CARD: "card numbers",
    PersonalKind.IP: "IP addresses",
    PersonalKind.PHONE: "telephone numbers",
    PersonalKind.NAME: "names in greetings, introductions and signatures",
}
"""What each kind is called where it is counted."""


class PersonalData(StrEnum):
    """What becomes of personal data in texts that go out."""

    ASK = "ask"
    """PersonalDataFound is raised where texts of corpora of one's own have any."""
    KEEP = "keep"
    REDACT = "redact"
    """Marks stand in its place: the warehouse is a copy that ``opened_redacted`` has made."""
