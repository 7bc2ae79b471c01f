// The editor of the SQL page: a text area that completes schemas, views, tables, and the columns of those in the query.
import {completions, wordBefore} from "./completions.js";

const editors = new WeakMap();

/** Streamlit calls this whenever the page has run; the editor is made the first time. */
export default function ({parentElement, data, setStateValue, setTriggerValue}) {
    if (!editors.has(parentElement)) {
        editors.set(parentElement, made(parentElement));
    }
    const editor = editors.get(parentElement);
    editor.relations = data.relations;
    editor.words = data.words;
    // With the version: the same text typed again, after another query was put here, is news.
    editor.tell = () => setStateValue("query", {text: editor.area.value, version: editor.version});
    editor.run = () => setTriggerValue("run", true);
    // What is being typed is overwritten only where the page puts another query there.
    if (editor.version !== data.version) {
        editor.version = data.version;
        editor.area.value = data.query;
        // Until here what one typed would be overwritten.
        editor.area.readOnly = false;
        close(editor);
    }
}

function made(parent) {
    const part = name => parent.querySelector(`.${name}`);
    const editor = {area: part("query"), list: part("list"), mirror: part("mirror"), status: part("status"), shown: []};
    const {area, list} = editor;
    area.addEventListener("input", () => suggest(editor, false));
    area.addEventListener("keydown", event => press(editor, event));
    area.addEventListener("click", () => close(editor));
    area.addEventListener("scroll", () => close(editor));
    area.addEventListener("blur", () => close(editor));
    area.addEventListener("change", () => editor.tell());
    // By mousedown, which comes before the text area loses the focus.
    list.addEventListener("mousedown", event => {
        event.preventDefault();
        const option = event.target.closest("[role=option]");
        if (option) take(editor, [...list.children].indexOf(option));
    });
    return editor;
}

function press(editor, event) {
    if (event.isComposing) return;
    const isOpen = editor.shown.length > 0;
    const keys = {
        ArrowDown: () => isOpen && mark(editor, (editor.at + 1) % editor.shown.length),
        ArrowUp: () => isOpen && mark(editor, (editor.at || editor.shown.length) - 1),
        Tab: () => isOpen && !event.shiftKey && take(editor, editor.at),
        Escape: () => isOpen && close(editor),
        Enter: () => (event.ctrlKey || event.metaKey ? run(editor) : isOpen && take(editor, editor.at)),
        " ": () => event.ctrlKey && suggest(editor, true),
    };
    const did = keys[event.key]?.();
    if (did) event.preventDefault();
}

function run(editor) {
    close(editor);
    editor.tell();
    editor.run();
    return true;
}

/** Show what the word before the cursor may become; asked for by Ctrl+Space, also where there is no word. */
function suggest(editor, isAsked) {
    const {area, list} = editor;
    const found = area.selectionStart === area.selectionEnd
        ? completions(area.value, area.selectionStart, editor.relations, isAsked, editor.words) : [];
    if (!found.length) return close(editor);
    editor.shown = found;
    list.replaceChildren(...found.map((completion, index) => option(completion, index)));
    list.hidden = false;
    place(editor);
    mark(editor, 0);
    editor.status.textContent = `${found.length} completion${found.length === 1 ? "" : "s"}: Tab takes one`;
    return true;
}

function option({name, kind}, index) {
    const made = document.createElement("li");
    made.id = `completion-${index}`;
    made.setAttribute("role", "option");
    made.append(name);
    const beside = document.createElement("span");
    beside.textContent = kind;
    made.append(" ", beside);
    return made;
}

/** Put the list below the cursor: the mirror has the text up to it, drawn alike. */
function place({area, list, mirror}) {
    const cursor = document.createElement("span");
    mirror.replaceChildren(area.value.slice(0, area.selectionStart - wordBefore(area).length), cursor);
    cursor.textContent = "\u200b";
    const most = Math.max(area.offsetWidth - list.offsetWidth, 0);
    list.style.left = `${Math.min(cursor.offsetLeft, most)}px`;
    list.style.top = `${cursor.offsetTop + cursor.offsetHeight - area.scrollTop}px`;
}

function mark(editor, index) {
    editor.at = index;
    [...editor.list.children].forEach((one, place) => one.setAttribute("aria-selected", String(place === index)));
    editor.list.children[index].scrollIntoView({block: "nearest"});
    editor.area.setAttribute("aria-activedescendant", `completion-${index}`);
    return true;
}

function take(editor, index) {
    const {area} = editor;
    area.setSelectionRange(area.selectionStart - editor.shown[index].typed.length, area.selectionStart);
    const {text} = editor.shown[index];
    // The command is old, and the only way that keeps what Ctrl+Z undoes.
    if (!document.execCommand("insertText", false, text)) {
        area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    }
    close(editor);
    return true;
}

function close(editor) {
    editor.shown = [];
    editor.list.hidden = true;
    editor.list.replaceChildren();
    editor.status.textContent = "";
    editor.area.removeAttribute("aria-activedescendant");
    return true;
}
