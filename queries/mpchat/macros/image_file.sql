-- The picture of the thread as a record publishes it: its file name, or an empty text where there is none.
(dialogue_extra, record_extra) as
case
    -- A record that disagrees with the dialogue's tables has all that it states of the dialogue in `differs`.
    when json_extract_string(record_extra, '$.differs') is null
        then
            case
                when json_extract_string(dialogue_extra, '$.has_image') in ('true', '1')
                    then json_extract_string(dialogue_extra, '$.file_name')
                else ''
            end
    when json_extract_string(record_extra, '$.differs."/has_image"') in ('true', '1')
        then json_extract_string(record_extra, '$.differs."/file_name"')
    else ''
end
