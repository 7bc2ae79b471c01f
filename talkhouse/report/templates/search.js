"use strict";
// Finds the dialogues that have all words, in the texts that the page brings along. What is found becomes text, never HTML.
{
  const { dialogues } = JSON.parse(document.getElementById("texts").textContent);
  const [words, place, said, found, more] = ["words", "place", "said", "found", "more"].map(id => document.getElementById(id));
  const AT_ONCE = 50, TURNS = 3, BEFORE = 80, AFTER = 240;
  let matches = [], shown = 0;

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const patterns = text => (text.match(/"[^"]+"|[^\s"]+/g) ?? []).map(one => {
    const literal = one.replaceAll('"', "").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return new RegExp(literal, "giu");
  });

  const places = (text, of) => of.flatMap(pattern => [...text.matchAll(pattern)].map(one => [one.index, one.index + one[0].length]));

  // A text with its matches marked, from a little before the first one on.
  const marked = (text, spans) => {
    spans.sort((one, other) => one[0] - other[0]);
    const begin = Math.max(spans[0][0] - BEFORE, 0), end = Math.min(spans[0][1] + AFTER, text.length);
    const line = element("span", begin ? "… " : "", { class: "said", dir: "auto" });
    let at = begin;
    for (const [first, last] of spans) {
      if (first < at || last > end) continue;
      line.append(text.slice(at, first), element("mark", text.slice(first, last)));
      at = last;
    }
    line.append(text.slice(at, end), end < text.length ? " …" : "");
    return line;
  };

  const entry = ({ path, id, turns }) => {
    const made = element("li", "");
    made.append(element("a", id, { href: path }));
    for (const [index, speaker, text, spans] of turns.slice(0, TURNS)) {
      const line = element("p", "");
      line.append(element("a", index, { class: "who", href: `${path}#turn-${index}`, "aria-label": `Turn ${index}` }), " ",
        element("span", speaker, { class: "who" }), " ", marked(text, spans));
      made.append(line);
    }
    if (turns.length > TURNS) made.append(element("p", `${turns.length - TURNS} more turns`, { class: "note" }));
    return made;
  };

  const show = () => {
    found.append(...matches.slice(shown, shown + AT_ONCE).map(entry));
    shown = Math.min(shown + AT_ONCE, matches.length);
    more.hidden = shown === matches.length;
  };

  const search = () => {
    const of = patterns(words.value), chosen = place.value === "" ? null : Number(place.value);
    const searched = dialogues.filter(([, , splits]) => chosen === null || splits.includes(chosen));
    matches = of.length === 0 ? [] : searched.flatMap(([path, id, , texts]) => {
      if (!of.every(pattern => texts.some(([, , text]) => text.search(pattern) >= 0))) return [];
      const turns = texts.map(([index, speaker, text]) => [index, speaker, text, places(text, of)]).filter(turn => turn[3].length);
      return [{ path, id, turns }];
    });
    matches.sort((one, other) => other.turns.length - one.turns.length);
    const count = `${matches.length.toLocaleString("en")} of ${searched.length.toLocaleString("en")} dialogues have ${of.length > 1 ? "all of these words" : "this"}`;
    said.textContent = of.length ? `${count}${matches.length > 1 ? ", the most turns with them first" : ""}.` : "Type a word.";
    found.replaceChildren();
    shown = 0;
    show();
  };

  const read = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    words.value = state.get("q") ?? "";
    place.value = state.get("in") ?? "";
    search();
  };

  const change = () => {
    const state = new URLSearchParams({ ...(words.value && { q: words.value }), ...(place.value && { in: place.value }) });
    history.replaceState(null, "", `#${state}`);
    search();
  };

  words.addEventListener("input", change);
  place.addEventListener("change", change);
  more.addEventListener("click", show);
  addEventListener("hashchange", read);
  read();
}
