// One field of a form: its box, what it holds, and what is wrong with it. The checks are made on the Python side.

import { button, make, text } from "./dom.js";

const MOST_RADIOS = 7;
const MODES = { number: "decimal", integer: "numeric", email: "email", uri: "url" };
const PICKERS = { date: ["date", "Pick a day"], "date-time": ["datetime-local", "Pick a time"] };

export function makeField(view, index, words, { changed, excused }) {
  const id = `field-${index}`;
  const problem = make("p", { class: "problem", id: `${id}-problem`, "aria-live": "polite" });
  const stop = make("div", { class: "stop", "aria-live": "polite" });
  const described = [view.hint && `${id}-hint`, `${id}-expects`, `${id}-problem`].filter(Boolean).join(" ");
  const box = boxOf(view, id, described, words, () => changed(field));
  const notes = [view.required ? null : words.optional, view.expects].filter(Boolean).join(" · ");
  const suspicion = view.suspicion && make("p", { class: "caution" }, view.suspicion);
  const element = make(box.isGroup ? "fieldset" : "div", { class: "field", "aria-describedby": box.isGroup ? described : null },
    make(box.isGroup ? "legend" : "label", { class: "label", for: box.isGroup ? null : id }, view.label),
    view.hint && make("p", { class: "hint", id: `${id}-hint` }, view.hint),
    box.element,
    make("p", { class: "expects", id: `${id}-expects` }, notes, box.tally),
    suspicion, problem, stop);

  const field = {
    index, element, view,
    value: () => box.value(),
    focus: () => box.focus(),
    problem(words) {
      text(problem, words ?? "");
      element.classList.toggle("unfit", Boolean(words));
      box.invalid(Boolean(words));
    },
    stop(words) {
      const was = stop.dataset.words ?? "";
      if (was === (words ?? "")) return;
      stop.dataset.words = words ?? "";
      stop.replaceChildren(...(words ? [
        make("p", {}, words),
        make("div", { class: "pair" },
          button("Take it out", () => { box.clear(); field.focus(); changed(field); }, { look: "plain" }),
          button("It is no secret, keep it", () => excused(field), { look: "plain" })),
      ] : []));
    },
  };
  return field;
}

function boxOf(view, id, described, words, changed) {
  if (view.kind === "boolean") return radios(view, id, words, changed, [["Yes", true], ["No", false]]);
  if (view.kind === "choices") return checkboxes(view, id, changed);
  if (view.kind !== "choice") return typed(view, id, described, changed);
  const options = view.options.map((shown, place) => [shown, place]);
  return options.length <= MOST_RADIOS ? radios(view, id, words, changed, options) : select(view, id, described, words, changed, options);
}

function typed(view, id, described, changed) {
  const common = { id, "aria-describedby": described, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-required": view.required ? "true" : null, oninput: changed };
  const input = view.long
    ? make("textarea", { ...common, rows: "3" })
    : make("input", { ...common, type: "text", inputmode: MODES[view.kind] ?? null, class: view.kind });
  input.value = view.filled;
  const picker = PICKERS[view.kind] && pickerFor(view.kind, input, changed);
  return {
    element: picker ? make("div", { class: "picked" }, input, picker) : input,
    value: () => input.value,
    focus: () => input.focus(),
    clear: () => { input.value = ""; },
    invalid: (is) => input.setAttribute("aria-invalid", is ? "true" : "false"),
  };
}

// The text is what counts and what is sent; the calendar only writes into it, with this machine's offset.
function pickerFor(kind, input, changed) {
  const [type, words] = PICKERS[kind];
  const hidden = make("input", { type, class: "calendar", tabindex: "-1", "aria-hidden": "true" });
  hidden.addEventListener("change", () => {
    if (hidden.value === "") return;
    input.value = kind === "date" ? hidden.value : withOffset(hidden.value);
    input.focus();
    changed();
  });
  return make("span", { class: "picker" }, hidden, button(words, () => {
    hidden.value = kind === "date" ? input.value : input.value.slice(0, 16);
    hidden.showPicker();
  }, { look: "plain" }));
}

function withOffset(local) {
  const minutes = -new Date(local).getTimezoneOffset();
  const two = (number) => String(number).padStart(2, "0");
  const away = Math.abs(minutes);
  return `${local.slice(0, 16)}:00${minutes < 0 ? "-" : "+"}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}

function radios(view, id, words, changed, options) {
  const all = view.required ? options : [...options, [words.empty_choice, null]];
  const inputs = all.map(([, value]) => {
    const input = make("input", { type: "radio", name: id, onchange: changed });
    input.checked = value === view.filled && (value !== null || !view.required);
    return input;
  });
  const list = make("div", { class: "options" }, ...all.map(([shown, value], place) =>
    make("label", { class: value === null ? "option none" : "option" }, inputs[place], make("span", {}, shown))));
  return {
    isGroup: true, element: list,
    value: () => all[inputs.findIndex((input) => input.checked)]?.[1] ?? null,
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0])?.focus(),
    clear: () => inputs.forEach((input) => { input.checked = false; }),
    invalid: () => {},
  };
}

function checkboxes(view, id, changed) {
  const chosen = new Set(view.filled);
  const tally = make("span", { class: "tally" });
  const count = () => inputs.filter((input) => input.checked).length;
  const tell = () => text(tally, ` · ${count()} of ${inputs.length} chosen`);
  const inputs = view.options.map((_, place) => {
    const input = make("input", { type: "checkbox", name: id, onchange: () => { tell(); changed(); } });
    input.checked = chosen.has(place);
    return input;
  });
  tell();
  const list = make("div", { class: "options" }, ...view.options.map((shown, place) =>
    make("label", { class: "option" }, inputs[place], make("span", {}, shown))));
  return {
    isGroup: true, element: list, tally,
    value: () => inputs.flatMap((input, place) => (input.checked ? [place] : [])),
    focus: () => inputs[0]?.focus(),
    clear: () => inputs.forEach((input) => { input.checked = false; }),
    invalid: () => {},
  };
}

function select(view, id, described, words, changed, options) {
  const element = make("select", { id, "aria-describedby": described, onchange: changed },
    make("option", { value: "" }, view.required ? "Choose one" : words.empty_choice),
    ...options.map(([shown, place]) => make("option", { value: String(place) }, shown)));
  element.value = view.filled === null ? "" : String(view.filled);
  return {
    element,
    value: () => (element.value === "" ? null : Number(element.value)),
    focus: () => element.focus(),
    clear: () => { element.value = ""; },
    invalid: (is) => element.setAttribute("aria-invalid", is ? "true" : "false"),
  };
}
