"""The corpora that come with Talkhouse, each by what only it has; for tests that compare rows of the samples."""

PICTURES, RELEASES, GROUPS, POSTS, SUGGESTIONS = "mpchat", "dbdc3", "delidata", "mantis", "blended_skill_talk"
