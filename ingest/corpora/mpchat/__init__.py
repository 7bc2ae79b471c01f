"""MPChat: Reddit threads about pictures, with the persona of one participant: what else that person posted."""

from talkhouse.ingest.corpora.mpchat.datasheet import DATASHEET
from talkhouse.ingest.corpora.mpchat.format import SPLITS
from talkhouse.ingest.corpora.mpchat.labels import ENTAILMENT, OVERALL
from talkhouse.ingest.corpora.mpchat.read import read
from talkhouse.ingest.corpora.mpchat.rules import RULES
from talkhouse.ingest.corpora.mpchat.write import write, write_record
from talkhouse.ingest.corpus import Author, Corpus, LicenceTerms, People, Reference, Scheme, Source

_ARCHIVE = "https://drive.google.com/uc?export=download&id=18bur87ayw_8NkQsCz_UCml0mHfuytlVu"

CORPUS = Corpus(
    id="mpchat",
    version=6,
    title="MPChat: Towards Multimodal Persona-Grounded Conversation",
    description=(
        "Threads of Reddit that begin with a picture. One participant has a persona: pictures with sentences that the "
        "same person posted elsewhere. Three tasks: which response comes next, which persona element it rests on, and "
        "who is speaking."
    ),
    homepage="https://github.com/ahnjaewoo/MPCHAT",
    licence="CC BY 4.0",
    licence_url="https://creativecommons.org/licenses/by/4.0/",
    terms=(
        "The repository is under CC BY 4.0; its README adds that the data come from Reddit, whose API terms apply, and "
        "that they are for non-commercial research only. Authors keep the rights to their posts and pictures."
    ),
    licence_terms=(
        LicenceTerms(
            spdx="CC-BY-4.0 AND LicenseRef-mpchat-non-commercial-research",
            is_attribution=True,
            is_non_commercial=True,
            is_unknown=True,
            note="README: for non-commercial research only. Posts and pictures are their authors', under no licence.",
        ),
    ),
    citation=(
        "J. Ahn, Y. Song, S. Yun, G. Kim: MPCHAT: Towards Multimodal Persona-Grounded Conversation. Proceedings of the "
        "61st Annual Meeting of the Association for Computational Linguistics (ACL), 2023. arXiv 2305.17388."
    ),
    authors=(
        Author("Ahn", "Jaewoo"),
        Author("Song", "Yeda"),
        Author("Yun", "Sangdoo"),
        Author("Kim", "Gunhee"),
    ),
    year=2023,
    reference=Reference(
        kind="inproceedings",
        title="MPCHAT: Towards Multimodal Persona-Grounded Conversation",
        venue=(
            "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics (Volume 1: Long "
            "Papers)"
        ),
        doi="10.18653/v1/2023.acl-long.189",
        arxiv="2305.17388",
    ),
    people=People(
        are_keys_public=True,
        note=(
            "Ids of posts and names of pictures are replaced too, for they lead to the authors: only who has the key "
            "can find the pictures. Any text can be looked up on Reddit."
        ),
    ),
    languages=("en",),
    files=(
        "mpchat_nrp.json, mpchat_gpp.json, mpchat_si.json, dialog_image_urls.json, persona_image_urls.json, or an "
        "archive or folder with these"
    ),
    sources=(Source("mpchat.zip", _ARCHIVE, note="the authors publish none, and neither does Google Drive"),),
    splits=SPLITS,
    schemes=(
        Scheme(
            ENTAILMENT,
            "Whether a message is entailed by a persona element: one vote of each worker.",
            "persona",
            {"1": "The message is entailed by the persona element.", "0": "It is not."},
            kind="single_label",
            scale="ordered",
        ),
        Scheme(
            OVERALL,
            "What the votes of the workers on a message and a persona element come to.",
            "persona",
            {
                "(strong) E": "Entailed: all three workers say so.",
                "E": "Entailed: two of three workers say so.",
                "I": "Irrelevant: one of three workers says that it is entailed.",
                "(strong) I": "Irrelevant: no worker says that it is entailed.",
            },
            kind="single_label",
            scale="ordered",
        ),
    ),
    datasheet=DATASHEET,
    rules=RULES,
    read=read,
    write=write,
    write_record=write_record,
)
