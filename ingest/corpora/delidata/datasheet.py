"""What a user of DeliData should know before using it."""

from talkhouse.ingest.corpus import Datasheet

DATASHEET = Datasheet(
    motivation=(
        "Made by G. Karadzhov, T. Stafford and A. Vlachos to study how groups deliberate: what people say that helps a "
        "group to a better decision than its members make alone."
    ),
    composition=(
        "500 written chats, each of 2 to 6 people who solve the Wason card selection task: four cards lie on the "
        "table, and the group is to turn only those that test whether every card with a vowel on one side has an even "
        "number on the other. 14,003 messages and 3,107 submitted solutions; after each of them a tracker says which "
        "cards each person stands for, and how good the solutions of the group are on average, from 0 to 1."
    ),
    collection=(
        "Each person first solved the task alone, then the group discussed it in a chat of the authors' platform; "
        "people could submit a solution at any time. People have the names of animals. How they were found and paid is "
        "not said in the files."
    ),
    labelling=(
        "Each message has labels at three levels: type (probing, non-probing deliberation, none), target (such as "
        "reasoning or solution) and additional marks. The files have one label each, without the annotators and "
        "without their agreement. Solutions were extracted from the messages; performance is computed from them."
    ),
    uses=(
        "Telling what a message does for the discussion, writing messages that probe, finding what changes minds, and "
        "whether a group gains by talking. In 64 % of the groups it does, says the paper."
    ),
    limits=(
        "One task with one right answer, which is in textbooks, discussed in written English. Performance follows the "
        "tracker, which takes solutions from what people wrote: who says nothing keeps the solution of before. That a "
        "message comes before a change does not show that it caused the change."
    ),
    quirks=(
        "No deliberation is spelled in two ways, None and 0, both as text; the authors' classifier takes them as one.",
        "A name such as Otter is a person only within its group: the same 29 names occur in all groups.",
        "In 257 groups the tracker has people who say nothing and are not on the group's list. They count in the "
        "performance.",
        "N/A among the cards means that no solution is known; it is published as a list of three letters. It scores "
        "0.5, and so does an empty list.",
        "There is no published split. Folds over messages put the same chat on both sides: split by dialogue.",
        "Counts of groups that gain agree between these files and the raw room dumps (318 of 500), but for 18 groups "
        "the two say different things.",
        "All first rows have the message id -1: whoever keys on the id alone loses 499 rows.",
    ),
    sources=(
        "Paper (arXiv 2108.05271), abstract: 500 groups, 14,000 utterances, 64 %, 43.8 %.",
        "README of the corpus in delitoolkit: what the fields mean.",
        "ConvoKit's page on the corpus: the rule that the cards test.",
        "Counted in all 500 files: rows, names, labels, the tracker, how performance is computed.",
    ),
)
