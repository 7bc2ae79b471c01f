"""Rules for rows: lists that become rows, and the number of a row."""

from sqlglot import exp

from talkhouse.schema.tables import metadata
from talkhouse.translation.dialects import written
from talkhouse.translation.refuse import NotPortable, check_parts


def unnested(node: exp.Select) -> exp.Expr:
    """``select unnest(a) as x, unnest(b) as y``: Spark makes rows of one list, in a lateral view: both are zipped."""
    check_parts(node)
    calls = [call for column in node.expressions for call in column.find_all(exp.Explode) if call.parent_select is node]
    if not calls:
        return node
    if node.args.get("group") or not node.args.get("from_"):
        raise NotPortable(calls[0], "unnest needs a 'from', and no 'group by' in the same select")
    names = [exp.to_identifier(f"unnested_{number}") for number, _ in enumerate(calls)]
    if len(calls) == 1:
        rows = written("explode({items})", items=calls[0].this)
    else:
        # A list that is null has no rows, but a null would make the zipped list null.
        lists = {f"items_{number}": call.this for number, call in enumerate(calls)}
        rows = written(f"inline(arrays_zip({', '.join(f'coalesce({{{name}}}, array())' for name in lists)}))", **lists)
    for call, name in zip(calls, names, strict=True):
        call.replace(exp.Column(this=name.copy()))
    alias = exp.TableAlias(this=exp.to_identifier("unnested"), columns=names)
    laterals = [*node.args.get("laterals", ()), exp.Lateral(this=rows, view=True, alias=alias)]
    return exp.Select(**{**node.args, "laterals": laterals})


def star(node: exp.Star) -> exp.Expr:
    """``* exclude (x)``: Spark has it from version 4 on, and not every engine for its SQL."""
    if any(node.args.values()):
        raise NotPortable(node, "name the columns")
    return node


def row_number(node: exp.Column) -> exp.Expr:
    """``rowid``: Spark's rows have no numbers; the key of the table tells them apart as well."""
    if node.name != "rowid":
        return node
    for table in node.parent_select.find_all(exp.Table) if node.parent_select else ():
        if node.table in ("", table.alias_or_name) and table.db == "main":
            (key,) = metadata.tables[table.name].primary_key.columns
            return exp.column(key.name, node.table or None)
    raise NotPortable(node, "only a table has row numbers")
