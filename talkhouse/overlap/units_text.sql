select owners.owner_no, 0 as turn_index, ${table}.text, form, tokens, letters
from ${warehouse}.main.${table}
inner join owners on owners.thing = '${unit}' and owners.owner = ${table}.${key}
inner join ${unit}_forms as forms on forms.text = ${table}.text
