-- What Python's str.split treats as white space, as a class of a regular expression: Unicode's own and the four information separators.
() as
'[' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(28) || chr(29) || chr(30) || chr(31) || ' '
    || chr(133) || chr(160) || chr(5760) || chr(8192) || '-' || chr(8202) || chr(8232) || chr(8233)
    || chr(8239) || chr(8287) || chr(12288) || ']'
