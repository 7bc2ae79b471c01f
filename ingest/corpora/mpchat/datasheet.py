"""What a user of MPChat should know before using it."""

from talkhouse.ingest.corpus import Datasheet

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
