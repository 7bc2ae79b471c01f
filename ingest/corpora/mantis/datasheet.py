"""What a user of MANtIS should know before using it."""

from talkhouse.ingest.corpus import Datasheet

DATASHEET = Datasheet(
    motivation=(
        "Made by G. Penha, A. Balan and C. Hauff (TU Delft) for research on conversational search: conversations in "
        "which somebody looks for information, in several domains, and grounded in web pages."
    ),
    composition=(
        "80,324 conversations from 14 sites of Stack Exchange, from 1,300 (worldbuilding) to 17,755 (askubuntu). One "
        "person asks (user), another answers (agent), and the two go on in the comments. 1,356 conversations with "
        "6,701 utterances have intents. For ranking there are 10 or 50 other responses for each context."
    ),
    collection=(
        "Selected by program from a dump of Stack Exchange, by six conditions: two people, at least two utterances "
        "each, a link in an answer, no spam, no answer marked as edited or deprecated, and, where the asker has the "
        "last word, one that sounds positive. The first three are checked when files are loaded (MA-04); the others "
        "can't be: nothing in the files says what was spam or edited, and the sentiment depends on the version of a "
        "lexicon. Tags but a few were removed, and neighbouring posts of one person joined. Whether those who wrote "
        "the posts were asked is not published."
    ),
    labelling=(
        "Two annotators gave the intents, with an agreement of 0.71 (Krippendorff's alpha), says the README; an "
        "utterance may have several, and 21 % do. The files have the final intents, not those of each annotator. The "
        "other responses for ranking were drawn at random from what BM25 finds for the right one."
    ),
    uses="Ranking responses in a conversation, writing them, and telling what an utterance is meant to do.",
    limits=(
        "Written English of 14 sites, most of them technical. Conversations of three or more people were left out, and "
        "so were those that ended badly. The other responses are not known to be wrong: nobody has judged them."
    ),
    quirks=(
        "Keys of conversations begin at 0 again in each split.",
        "Each answer to a question is a conversation of its own, so that title and question repeat.",
        "Opening tags of links are kept, and closing ones are gone; neighbouring posts of a person are joined without "
        "a blank.",
        "Some of the other responses may be bare numbers, repeated, or the right response: a fault of the sampling.",
        "The files labels.txt and labels_2.txt in the repository have no labels.",
        "The meanings of the intents are from the corpus's README, which names no codes; the codes are MSDialog's.",
    ),
    sources=(
        "Paper (arXiv 1912.04639) and README of the repository: conditions, intents, agreement.",
        "README of the repository before it (conversational-search-dataset): conversations of each site.",
        "The authors' code: how conversations were selected, split and cleaned, and how responses were drawn.",
    ),
)
