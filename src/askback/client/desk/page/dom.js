// Makes elements. Whatever comes from outside goes in as text: nothing here, or anywhere on this page, parses markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export const text = (element, words) => {
  // An announcement repeats where text is set again, so an unchanged one is left alone.
  if (element.textContent !== words) element.textContent = words;
};

// Clicks and keys that were meant for what stood here a moment ago do not count (T21).
export const GUARD_MILLISECONDS = 500;

let guardTimer = 0;
let guarded = null;

export function guard(card) {
  guarded = card;
  restart();
}

function restart() {
  if (guarded === null) return;
  delete guarded.dataset.ready;
  clearTimeout(guardTimer);
  if (document.hidden) return;
  const card = guarded;
  // Two frames: by the second one the first has been drawn.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    clearTimeout(guardTimer);
    guardTimer = setTimeout(() => { card.dataset.ready = ""; }, GUARD_MILLISECONDS);
  }));
}

document.addEventListener("visibilitychange", restart);

export function button(words, act, { look = "quiet", ...attributes } = {}) {
  return make("button", {
    type: "button",
    class: look,
    onkeydown: (event) => { if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault(); },
    onclick: (event) => {
      const card = event.currentTarget.closest(".card");
      if (card !== null && !("ready" in card.dataset)) return;
      act(event);
    },
    ...attributes,
  }, words);
}

export function announce(words) {
  text(document.getElementById("announce"), words);
}
