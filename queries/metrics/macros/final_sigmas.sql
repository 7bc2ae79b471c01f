-- A text with each capital sigma that ends a word as the small final one, as Python's lower() writes it; DuckDB's lower() knows only the other.
(said) as
case
    when contains(said, 'Σ') then
        regexp_replace(
            said,
            '([\p{Lu}\p{Ll}\p{Lt}ªºⅠ-ⅿⒶ-ⓩ🄰-🅉🅐-🅩🅰-🆉][\p{Mn}\p{Me}\p{Cf}\p{Lm}\p{Sk}''.:··՟״‘’․‧︓﹒﹕＇．：]*)Σ'
            || '([\p{Mn}\p{Me}\p{Cf}\p{Lm}\p{Sk}''.:··՟״‘’․‧︓﹒﹕＇．：]*(?:[^\p{Lu}\p{Ll}\p{Lt}ªºⅠ-ⅿⒶ-ⓩ🄰-🅉🅐-🅩🅰-🆉'
            || '\p{Mn}\p{Me}\p{Cf}\p{Lm}\p{Sk}''.:··՟״‘’․‧︓﹒﹕＇．：]|$))',
            '\1ς\2',
            'g'
        )
    else said
end
