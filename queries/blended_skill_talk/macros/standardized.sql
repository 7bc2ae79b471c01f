-- A persona sentence as ParlAI compares it with the safe ones: lower case, final .!? removed, contractions written out, also inside words.
(sentence) as
replace(
    replace(
        replace(
            replace(
                replace(
                    replace(
                        replace(
                            replace(
                                replace(
                                    replace(
                                        replace(
                                            replace(
                                                replace(
                                                    replace(
                                                        replace(
                                                            rtrim(lower(sentence), '.!?'),
                                                            'i''ve',
                                                            'i have'
                                                        ),
                                                        'i ve',
                                                        'i have'
                                                    ),
                                                    'ive',
                                                    'i have'
                                                ),
                                                'i''m',
                                                'i am'
                                            ),
                                            'i m',
                                            'i am'
                                        ),
                                        'im',
                                        'i am'
                                    ),
                                    'i''ll',
                                    'i will'
                                ),
                                'i ll',
                                'i will'
                            ),
                            'don''t',
                            'do not'
                        ),
                        'don t',
                        'do not'
                    ),
                    'dont',
                    'do not'
                ),
                'can''t',
                'cannot'
            ),
            'can t',
            'cannot'
        ),
        'cant',
        'cannot'
    ),
    ' s',
    '''s'
)
