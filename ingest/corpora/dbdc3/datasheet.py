"""What a user of DBDC3 should know before using it."""

from talkhouse.ingest.corpus import Datasheet

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
        "The releases dbdc3 and dbdc3_revised have the same dialogues under the same ids and file names; only labels "
        "of CIC_115, YI_100, CIC_50 and YI_50 differ. Counting both counts those dialogues twice.",
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
        "Counted in the files: turns, labels, annotators, empty turns, what differs between the releases.",
    ),
)
