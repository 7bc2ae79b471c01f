-- The web addresses in an utterance, in order: what an opening tag's href holds (an address shown right behind the tag is the same link), and bare ones without the punctuation that ends them.
(words) as
list_filter(
    list_transform(
        regexp_extract_all(
            words,
            '(?i)<a\s[^>]*href="[^"]*"[^>]*>(?:https?://[^\s<>"]+)?|https?://[^\s<>"]+'
        ),
        lambda link: case
            when starts_with(link, '<') then regexp_extract(link, '(?i)href="([^"]*)"', 1)
            when contains(link, '(') then regexp_replace(link, '[\].,;:!?'']+$', '', 'g')
            else regexp_replace(link, '[\])}.,;:!?'']+$', '', 'g')
        end
    ),
    lambda link: link <> ''
)
