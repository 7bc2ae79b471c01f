"""Files that a user names, which anybody may have made: copied once, and read in bounded memory, as tables or not."""
