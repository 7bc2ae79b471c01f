"""DBDC3: human-bot dialogues; about 30 annotators say of each system turn whether the dialogue broke down."""

from talkhouse.ingest.corpora.dbdc3.format import BREAKDOWN, SPLITS, UNGRAMMATICAL
from talkhouse.ingest.corpora.dbdc3.read import read
from talkhouse.ingest.corpora.dbdc3.rules import RULES
from talkhouse.ingest.corpora.dbdc3.write import write_record
from talkhouse.ingest.corpus import Author, Corpus, Datasheet, LicenceTerms, People, Reference, Release, Scheme, Source
from talkhouse.ingest.stored_record import whole_files

DATASHEET = Datasheet(
    motivation=(
        "Made by the organisers of the third Dialogue Breakdown Detection Challenge, a track of DSTC6 in 2017, to "
        "develop and compare programs that notice when a system's utterance breaks a conversation down."
    ),
    composition=(
        "765 chats, each of one person with a chat system of one of seven families: 415 in English for development, "
        "200 in English and 150 in Japanese for evaluation. Most have 20 or 21 turns, of which 10 system turns are "
        "labelled, in Japanese 11. Before a CIC dialogue its user was shown a paragraph of Wikipedia, as SQuAD has it. "
        "All of it was published twice: with the original labels, and with those of the four CIC and YI subsets made "
        "anew."
    ),
    collection=(
        "CIC: from the human evaluation round of the Conversational Intelligence Challenge, a random choice of "
        "dialogues, the first part of each. IRIS_100 and TKTK_100: from the WOCHAT data; IRIS_50: from the developer "
        "of IRIS; TKTK_50: collected by the organisers with TickTock. YI: collected with a chat system of the Moscow "
        "Institute of Physics and Technology. Japanese: collected by the organisers with the chat API of NTT DOCOMO "
        "(DCM), a system of Denso IT Laboratory (DIT) and an IR-status based system (IRS). The people who talked with "
        "YI were workers of Amazon Mechanical Turk; for IRIS and TickTock see WOCHAT, for CIC the Conversational "
        "Intelligence Challenge. The fixed prompt that real sessions of IRIS begin with was cut off. What the people "
        "were paid is not published."
    ),
    labelling=(
        "30 annotators label each system turn as no breakdown (O), possible breakdown (T) or breakdown (X). In the "
        "original labels an annotator may have labelled only a part of a dialogue, so that 58 to 128 people share a "
        "CIC dialogue; for the revised labels of CIC and YI each of 30 people labelled a dialogue from beginning to "
        "end. The organisers say that this raised the agreement slightly. "
        "IRIS and TickTock were labelled by workers of CrowdFlower of level 2 from Australia, Canada, New Zealand, "
        "the United Kingdom and the United States; workers who are not native speakers of English were asked to stay "
        "away, which is not guaranteed, and there were no check questions, since the labels are subjective. CIC and "
        "YI were labelled by workers of Amazon Mechanical Turk. Of the older Japanese data, 100 dialogues of the chat "
        "dialogue corpus have 24 annotators, the others 2 or 3."
    ),
    uses=(
        "Predicting the label, or the distribution of the labels, of a system turn from what was said before it. "
        "People label the same turn differently, so the challenge scores distributions beside single labels."
    ),
    limits=(
        "Systems of 2017 or before, and nearly all dialogues have the same length. Evaluation dialogues of IRIS and "
        "TickTock were collected apart from those for development. Which label wins depends on the threshold and on "
        "the rule for ties, which the challenge's script fixes."
    ),
    quirks=(
        "The releases dbdc3 and dbdc3_revised have the same dialogues under the same ids and file names; only "
        "labels of CIC_115, YI_100, CIC_50 and YI_50 differ. Counting both counts those dialogues twice.",
        "The archives of the development data (dev_zips) repeat the votes of dbdc3; their annotators have no id in "
        "CIC and YI.",
        "In the Japanese dialogues the first turn of the system is labelled too, in CIC and YI it is not.",
        "28 system turns of YI are empty and have 30 labels all the same.",
        "Only YI and the Japanese dialogues have times. CIC has no ids of users.",
        "The challenge's README calls the folders jp and test; in the archive they are ja and eval.",
        "The older Japanese data are releases of their own (chat_dialogue_corpus, dbdc1, dbdc2), where they are there; "
        "what is said here of numbers and collection is of the third challenge.",
    ),
    sources=(
        "00README in DBDC3.zip, version 1.2 of February 2018: subsets, collection, revision.",
        "The challenge's pages (datasets, getting started): labels, annotators, measures and who made it.",
        "Counted in the files: turns, labels, annotators, empty turns, what differs between the publisher's releases.",
    ),
)


_RAW = "https://github.com/dbd-challenge/dbdc3/raw/master"

CORPUS = Corpus(
    id="dbdc3",
    version=7,
    title="Dialogue Breakdown Detection Challenge 3",
    description=(
        "Dialogues of people with seven chat systems in English and Japanese. About 30 annotators label each "
        "system turn: no breakdown (O), possible breakdown (T), breakdown (X)."
    ),
    homepage="https://dbd-challenge.github.io/dbdc3/",
    licence="MIT; the CIC background paragraphs (DBDC3_context.zip, from SQuAD): CC BY-SA 4.0",
    licence_url="https://github.com/dbd-challenge/dbdc3/blob/master/LICENSE",
    licence_terms=(
        LicenceTerms(part="dialogues and labels", spdx="MIT", is_attribution=True),
        LicenceTerms(
            part="background",
            spdx="CC-BY-SA-4.0",
            licence_url="https://creativecommons.org/licenses/by-sa/4.0/",
            columns=("dbdc3.breakdown_detection.background", "main.dialogues.extra", "main.records.extra.background"),
            is_attribution=True,
            is_share_alike=True,
            note="The paragraphs that the CIC dialogues are about are from SQuAD, and so from Wikipedia.",
        ),
    ),
    citation=(
        "R. Higashinaka, K. Funakoshi, M. Inaba, Y. Tsunomori, T. Takahashi, N. Kaji: Overview of Dialogue "
        "Breakdown Detection Challenge 3. Proceedings of Dialog System Technology Challenge 6 (DSTC6) Workshop, 2017."
    ),
    authors=(
        Author("Higashinaka", "Ryuichiro"),
        Author("Funakoshi", "Kotaro"),
        Author("Inaba", "Michimasa"),
        Author("Tsunomori", "Yuiko"),
        Author("Takahashi", "Tetsuro"),
        Author("Kaji", "Nobuhiro"),
    ),
    year=2017,
    reference=Reference(
        kind="inproceedings",
        title="Overview of Dialogue Breakdown Detection Challenge 3",
        venue="Proceedings of Dialog System Technology Challenge 6 (DSTC6) Workshop",
        url="https://dbd-challenge.github.io/dbdc3/",
    ),
    people=People(members=("people",)),
    languages=("en", "ja"),
    files="DBDC3.zip, DBDC3_context.zip, the zips of data/dev, older Japanese zips, or folders with *.log.json files",
    sources=(
        Source("DBDC3.zip", f"{_RAW}/docs/data/DBDC3.zip", note="the challenge publishes none"),
        Source(
            "DBDC3_context.zip",
            f"{_RAW}/docs/data/DBDC3_context.zip",
            "36426cdd8cde83e57e03aea0ed9865969d6b7aaab2d70cd26059c82ded5ac3d8",
            size=104_137,
        ),
        Source(
            "iris_100.zip",
            f"{_RAW}/data/dev/iris_100.zip",
            "3c67ff3434794cc47b9a0b4c08345ecd56d6548346f258e4713d5a6fb2bcee0e",
            size=198_064,
        ),
        Source(
            "ticktock_100.zip",
            f"{_RAW}/data/dev/ticktock_100.zip",
            "ab55b4035e0e764376e055bfb0bb53057063d5f6d2864d14a4598785a450b25c",
            size=203_540,
        ),
        Source(
            "CIC_json_data.zip",
            f"{_RAW}/data/dev/CIC_json_data.zip",
            "37f500ca2e4197ac04ebc6ff889fb49878fe438bf127c0919aa3dfae239fa27a",
            size=252_631,
        ),
        Source(
            "YI_json_data.zip",
            f"{_RAW}/data/dev/YI_json_data.zip",
            "198074b5b8269f16e04c7b5284572df903399b5950a2a08797382e2603887535",
            size=168_991,
        ),
    ),
    by_hand=(
        "The older Japanese sets are on other pages, which the challenge's page of data sets names: "
        "projectnextnlp-chat-dialogue-corpus.zip, dev.zip and eval.zip of DBDC1, DBDC2_dev.zip and DBDC2_ref.zip. They "
        "load as they are named there."
    ),
    splits=SPLITS,
    releases=(
        Release(
            "dbdc3",
            "the original labels",
            "As published for the challenge's workshop in 2017. An annotator may have labelled only a part of a "
            "dialogue.",
        ),
        Release(
            "dbdc3_revised",
            "the revised labels",
            "Published after the workshop: CIC_115, YI_100, CIC_50 and YI_50 labelled anew, each annotator a whole "
            "dialogue in a row. All other labels are the original ones.",
        ),
        Release(
            "dev_zips",
            "the archives of the development data",
            "The English development data, an archive for each system, in the challenge's repository: the votes of the "
            "original labels again, in CIC and YI without ids of annotators.",
        ),
        Release(
            "chat_dialogue_corpus",
            "the chat dialogue corpus",
            "Japanese, older than the challenges: 1,146 dialogues with DCM, of which 100 have 24 annotators (init100) "
            "and the others 2 or 3 (rest1046), with sex, age and occupation of these people and of the speakers. "
            "Development data of the third challenge, so their split is dev.",
        ),
        Release("dbdc1", "the first challenge", "Japanese, DCM: 20 dialogues for development, 80 for evaluation."),
        Release(
            "dbdc2",
            "the second challenge",
            "Japanese: 50 dialogues each with DCM, DIT and IRS for development, and as many for evaluation.",
        ),
    ),
    schemes=(
        Scheme(
            BREAKDOWN,
            "Whether the dialogue can go on easily after this system turn; one label per annotator.",
            "turn",
            {
                "O": "Not a breakdown: it is easy to continue the conversation.",
                "T": "Possible breakdown: it is difficult to continue smoothly.",
                "X": "Breakdown: it is difficult to continue the conversation.",
            },
            kind="single_label",
            scale="good_to_bad",
        ),
        Scheme(
            UNGRAMMATICAL,
            "The field ungrammatical-sentence, where it is not empty (Japanese dialogues only).",
            "turn",
            {"O": "The sentence is grammatical.", "X": "The sentence is ungrammatical."},
            kind="single_label",
        ),
    ),
    datasheet=DATASHEET,
    rules=RULES,
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
