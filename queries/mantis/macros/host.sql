-- The host that a web address names, in lower case and without www.; null where it names none.
(address) as
nullif(regexp_extract(lower(address), '^(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#@]*@)?(?:www\.)?([^/?#:]+)', 1), '')
