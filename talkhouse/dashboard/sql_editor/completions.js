// What a word of a query may become. A relation is [its name with its schema, [[column, type], ...]].

const MOST = 50;
const LETTER = "[\\p{L}\\p{N}_$]";
const WORD = new RegExp(`(?:${LETTER}|\\.)*$`, "u");
const PLAIN = /^[a-z_][a-z0-9_]*$/;
const BEFORE_RELATION = /\b(?:from|join|describe|summarize)\s+$/i;
const NOT_AN_ALIAS = /^(?:where|group|order|limit|on|using|join|inner|left|right|full|cross|natural|having|union|qualify|as|asof|window)$/i;
// After these, Enter means a new line.
const KEYWORDS = new Set(
    ("all and as asc between by case count cross desc distinct else end except exists false from full group having in " +
     "inner intersect is join left like limit not null offset on or order over partition qualify right select then " +
     "true union using values when where with").split(" "),
);

/** Return the word that ends at the cursor of a text area. */
export function wordBefore({value, selectionStart}) {
    return WORD.exec(value.slice(0, selectionStart))[0];
}

/** Return {name, kind, text, typed} for all that may stand in place of what was typed; nothing in texts and comments. */
export function completions(query, cursor, relations, isAsked, words) {
    const before = query.slice(0, cursor);
    const word = WORD.exec(before)[0];
    const typed = word.slice(word.lastIndexOf(".") + 1);
    if (isInText(before) || (!word && !isAsked) || (KEYWORDS.has(word.toLowerCase()) && !isAsked)) return [];
    const known = new Map(relations);
    const owner = word.slice(0, -typed.length || undefined).replace(/\.$/, "");
    const found = word.includes(".")
        ? belonging(owner, query, known)
        : [...(BEFORE_RELATION.test(before.slice(0, -word.length || undefined)) ? [] : columnsIn(query, known)), ...roots(known)];
    return ranked(found, word.includes(".") ? typed : word, new Set(words));
}

/** Return what stands in a schema, or the columns of a relation or of its alias. */
function belonging(owner, query, known) {
    const relation = known.has(owner) ? owner : named(query, known).find(one => one.alias === owner)?.relation;
    if (relation) return columns(relation, known);
    const inside = [...known.keys()].filter(name => name.startsWith(`${owner}.`));
    return inside.map(name => ({name: name.slice(owner.length + 1), kind: ""}));
}

function roots(known) {
    const schemas = new Set([...known.keys()].map(name => name.split(".")[0]));
    const relations = [...known.keys()].map(name => ({name, kind: ""}));
    return [...[...schemas].map(name => ({name, kind: "schema"})), ...relations];
}

/** Return the relations that a query names, by what it calls them. */
function named(query, known) {
    const places = query.matchAll(/([\p{L}_][\p{L}\p{N}_]*\.[\p{L}_][\p{L}\p{N}_]*)(?:\s+(?:as\s+)?([\p{L}_][\p{L}\p{N}_]*))?/giu);
    return [...places].filter(([, relation]) => known.has(relation)).map(([, relation, alias]) => ({
        relation, alias: alias && !NOT_AN_ALIAS.test(alias) ? alias : relation.split(".")[1],
    }));
}

function columnsIn(query, known) {
    const all = named(query, known).flatMap(({relation}) => columns(relation, known));
    return [...new Map(all.map(column => [column.name, column])).values()];
}

function columns(relation, known) {
    return known.get(relation).map(([name, type]) => ({name, kind: type.toLowerCase()}));
}

/** Return those that have what was typed in their names: those that begin with it first, then those of which a part does. */
function ranked(found, typed, words) {
    const wanted = typed.toLowerCase();
    const place = ({name}) => {
        const at = name.toLowerCase().indexOf(wanted);
        return at <= 0 ? at : /[._]/.test(name[at - 1]) ? 1 : wanted.length > 2 ? 2 : -1;
    };
    const fitting = found.map(one => [place(one), one]).filter(([at]) => at >= 0).sort(([a], [b]) => a - b);
    if (fitting.length && fitting[0][1].name === typed) return [];
    return fitting.slice(0, MOST).map(([, one]) => ({...one, typed, text: inSql(one.name, words)}));
}

function inSql(name, words) {
    const quoted = part => PLAIN.test(part) && !words.has(part) ? part : `"${part.replaceAll('"', '""')}"`;
    return name.split(".").map(quoted).join(".");
}

/** Return whether a text ends inside a string, a quoted name or a comment. */
function isInText(before) {
    return /['"]|--|\/\*/.test(before.replace(/'[^']*'|"[^"]*"|--[^\n]*\n|\/\*[^]*?\*\//g, ""));
}
