"""MPChat: Reddit threads about pictures, with the persona of one participant: what else that person posted."""

from talkhouse.ingest.corpora.mpchat.format import ENTAILMENT, OVERALL, SPLITS
from talkhouse.ingest.corpora.mpchat.read import read
from talkhouse.ingest.corpora.mpchat.rules import RULES
from talkhouse.ingest.corpora.mpchat.write import write, write_record
from talkhouse.ingest.corpus import Author, Corpus, Datasheet, LicenceTerms, People, Reference, Scheme, Source

DATASHEET = Datasheet(
    motivation=(
        "Made by J. Ahn, Y. Song, S. Yun and G. Kim (Seoul National University, NAVER AI Lab) for dialogue agents with "
        "a persona of pictures and sentences: memories of what a person did, not only facts about them."
    ),
    composition=(
        "15,000 threads of Reddit with 42,531 messages by 25,877 people. One of them, the main author, has a persona: "
        "pictures, each with a sentence. 8,013 messages of main authors are grounded in an element of the persona. The "
        "pictures are addresses; they are not in the files."
    ),
    collection=(
        "Posts and comments of Reddit, selected by the authors; the sentences of a persona are titles of pictures that "
        "the same person posted elsewhere. Messages were lowercased and cleaned of emoji and addresses. The split "
        "follows time: what is newest is the test set. Whether those who wrote the posts were asked is not published."
    ),
    labelling=(
        "For 16,327 pairs of a message and a persona element three workers said whether the element entails the "
        "message; 50.4 % are entailed for at least two of the three. The files have each worker's vote."
    ),
    uses=(
        "Predicting the main author's next message, finding the persona element that a message is grounded in, and "
        "telling which author is speaking. Its README allows non-commercial research only."
    ),
    limits=(
        "English of Reddit's users about pictures. A persona is what somebody posted with a picture, which need not be "
        "true. The wrong candidates are other people's; nobody has judged that they are wrong."
    ),
    quirks=(
        "The same thread is in up to three files, one for each task.",
        "Of the candidates in val and test the first is always the right one.",
        "Most messages of main authors are not grounded, and next response prediction uses them all the same.",
        "The time of a persona element is called created_utc in some and created_utcs in others.",
        "The paper counts 1,509 threads in test, and the parts of its speaker identification test set add up to 1,539.",
    ),
    sources=(
        "Paper (arXiv 2305.17388), section 3 and Table 6: counts, collection, votes.",
        "README of the repository: fields, licence and terms.",
        "The authors' code: what each task reads.",
    ),
)


_ARCHIVE = "https://drive.google.com/uc?export=download&id=18bur87ayw_8NkQsCz_UCml0mHfuytlVu"

CORPUS = Corpus(
    id="mpchat",
    version=7,
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
    authors=(Author("Ahn", "Jaewoo"), Author("Song", "Yeda"), Author("Yun", "Sangdoo"), Author("Kim", "Gunhee")),
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
