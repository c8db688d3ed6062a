// The desk: what waits, one card open at a time, and the watch that keeps both true.

import { get, Locked, Lost, post, Said, watch } from "./api.js";
import { announce, button, guard, make, text } from "./dom.js";
import { formCard } from "./form.js";
import { visitCard, waitCard } from "./visit.js";

const MAKERS = { form: formCard, visit: visitCard, wait: waitCard };
const LONGEST_PAUSE = 5000;

const place = document.getElementById("place");
const list = document.getElementById("list");
const queue = document.getElementById("queue");
const toggle = document.getElementById("toggle");
const status = document.getElementById("status");

const rows = new Map();  // id -> its place in the list
const mine = new Set();  // settled, or being settled, by this very tab
let open = null;         // the card before the person
let opening = null;      // the id of one that is being fetched
let isOver = false;      // the watch has ended for good, and it was said why

const desk = {
  words: {},
  guard: (card) => guard(card.element),
  claim: (card, is = true) => (is ? mine.add(card.id) : mine.delete(card.id)),
  failed(card, error) {
    if (!(error instanceof Said)) throw error;
    if (error instanceof Lost && !isOver) connection(error.message);
    card.say(error.message);
    announce(error.message);
  },
  async attempt(card, act) {
    if ("busy" in card.element.dataset) return;
    card.element.dataset.busy = "";
    try {
      await act();
    } catch (error) {
      mine.delete(card.id);
      desk.failed(card, error);
    } finally {
      delete card.element.dataset.busy;
    }
  },
  settle: (card, act, body) => desk.attempt(card, async () => {
    mine.add(card.id);
    const reply = await post(`/cards/${card.id}/${act}`, body);
    desk.finished(card, reply);
  }),
  finished(card, { outcome, settled, then }) {
    [card.id, ...settled].forEach(removeRow);
    leave();
    openNext({ isByPerson: true, words: `${capital(outcome)}.`, then });
  },
};

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function leave() {
  open?.leave();
  open = null;
}

async function openCard(id, { isByPerson }) {
  if (open?.id === id) return open.focus();
  opening = id;
  let view;
  try {
    view = await get(`/cards/${id}`);
  } catch (error) {
    if (!(error instanceof Said)) throw error;
    text(status, error.message);
    removeRow(id);
    return undefined;
  }
  if (opening !== id) return undefined;
  opening = null;
  leave();
  const isFree = document.activeElement === document.body || place.contains(document.activeElement);
  open = MAKERS[view.kind](view, desk);
  if (view.gone) gone(open, view.gone);
  place.replaceChildren(open.element);
  tally();
  window.scrollTo(0, 0);
  current();
  if (isByPerson || isFree) open.focus();
  return undefined;
}

function openNext({ isByPerson, words = "", then = "" }) {
  const next = rows.keys().next();
  if (next.done) showEmpty(words, then);
  else openCard(next.value, { isByPerson });
  if (words) announce([words, then, next.done ? "" : "The next question is open."].filter(Boolean).join(" "));
}

function showEmpty(words, then = "") {
  place.replaceChildren(make("div", { class: "empty" },
    make("p", { class: "big" }, words || "Nothing is waiting"),
    ...(then ? [make("p", {}, then)] : []),
    make("p", {}, words ? "Nothing else is waiting." : "", " Questions appear here by themselves. You can leave this page open.")));
  current();
}

function gone(card, words) {
  card.over(words, async () => {
    try {
      mine.add(card.id);
      await post(`/cards/${card.id}/close`);
    } catch (error) {
      if (!(error instanceof Said)) throw error;
    }
    removeRow(card.id);
    leave();
    openNext({ isByPerson: true });
  });
  guard(card.element);
  announce(words);
}

function elsewhere(card, words) {
  card.over(words, () => {
    leave();
    openNext({ isByPerson: true });
  });
  guard(card.element);
  announce(words);
}

// The list

function rowOf(summary) {
  const row = make("button", { type: "button", class: "row", onclick: () => {
    fold(true);
    openCard(summary.id, { isByPerson: true });
  } });
  fillRow(row, summary);
  return row;
}

function fillRow(row, summary) {
  row.replaceChildren(
    make("span", { class: "row-who" }, summary.who, " ", make("span", { class: "row-kind" }, summary.what)),
    make("span", { class: "row-why" }, summary.why),
    make("span", { class: "row-says" }, summary.message));
}

function putRow(summary) {
  const row = rows.get(summary.id);
  if (row !== undefined) return fillRow(row.firstChild, summary);
  const item = make("li", {}, rowOf(summary));
  rows.set(summary.id, item);
  list.append(item);
  return undefined;
}

function removeRow(id) {
  rows.get(id)?.remove();
  rows.delete(id);
  tally();
}

function tally() {
  const count = rows.size;
  queue.hidden = count === 0;
  document.title = count === 0 ? "Desk" : `(${count}) Desk`;
  text(toggle, `${count} waiting`);
  if (!document.body.classList.contains("lost")) text(status, count === 0 ? "Nothing waiting" : `${count} waiting`);
  open?.behind(rows.has(open.id) ? count - 1 : count);
}

function current() {
  for (const [id, item] of rows) {
    if (id === open?.id) item.firstChild.setAttribute("aria-current", "true");
    else item.firstChild.removeAttribute("aria-current");
  }
}

function fold(isFolded) {
  queue.classList.toggle("unfolded", !isFolded);
  toggle.setAttribute("aria-expanded", String(!isFolded));
}

toggle.addEventListener("click", () => fold(queue.classList.contains("unfolded")));

// The watch

function changed(summary) {
  if (summary.outcome !== undefined) {
    removeRow(summary.id);
    if (open?.id === summary.id && !mine.has(summary.id)) settledElsewhere(summary);
    return;
  }
  const isNew = !rows.has(summary.id);
  putRow(summary);
  tally();
  if (open?.id === summary.id && summary.gone) gone(open, summary.gone);
  if (!isNew) return;
  announce(`New: ${summary.what} from ${summary.who}.`);
  if (open === null && opening === null) openCard(summary.id, { isByPerson: false });
}

function settledElsewhere(summary) {
  elsewhere(open, summary.here ? `Answered in another tab: ${summary.outcome}.` : `${capital(summary.outcome)}.`);
}

function snapshot(event) {
  Object.assign(desk.words, event.words);
  const ids = new Set(event.cards.map((card) => card.id));
  for (const id of [...rows.keys()]) if (!ids.has(id)) removeRow(id);
  event.cards.forEach(putRow);
  tally();
  connection(null);
  if (open !== null && !ids.has(open.id) && !mine.has(open.id)) elsewhere(open, "This question no longer waits for an answer.");
  else if (open === null && opening === null) openNext({ isByPerson: false });
}

function connection(words) {
  const wasLost = document.body.classList.contains("lost");
  document.body.classList.toggle("lost", words !== null);
  if (words !== null) return text(status, words);
  if (wasLost && open !== null && !open.element.classList.contains("over")) open.say(null);
  return tally();
}

function stopped(words, { rests = false } = {}) {
  isOver = true;
  connection(open === null ? "Not connected" : words);
  // Beside the status, where no card that is opened or closed later takes it away.
  if (rests) status.after(button(desk.words.use_this_tab, () => location.reload(), { look: "main" }));
  if (open !== null) return guard(open.element);
  const [first, ...rest] = words.split(/(?<=\.) /);
  place.replaceChildren(make("div", { class: "empty" },
    make("p", { class: "big" }, first), rest.length > 0 ? make("p", {}, rest.join(" ")) : null));
  return announce(words);
}

async function follow() {
  for (let pause = 250; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      for await (const event of watch()) {
        pause = 250;
        if (event.cards) snapshot(event);
        else if (event.over) return stopped(event.over, { rests: event.rests });
        else event.changed.forEach(changed);
      }
    } catch (error) {
      if (error instanceof Locked) return stopped(error.message);
      if (!(error instanceof Lost)) throw error;
      connection(error.message);
    }
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

window.addEventListener("pagehide", () => open?.leave());
follow();
