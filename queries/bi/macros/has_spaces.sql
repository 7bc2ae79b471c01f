-- Whether a language puts spaces between words; true where it is not known. Burmese, Chinese, Dzongkha, Japanese, Khmer, Lao, Thai and Tibetan do not.
(language) as
split_part(lower(coalesce(language, '')), '-', 1)
not in ('bo', 'cmn', 'dz', 'ja', 'km', 'lo', 'my', 'th', 'wuu', 'yue', 'zh')
