"""Formats in which a dialogue is a group of rows: turns, convokit; and files of labels, a row a label."""
