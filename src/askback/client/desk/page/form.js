// A form: fill in, review, send. What is typed goes to the draft on the Python side as it is typed.

import { caution, makeCard, meanings, theirWords, waysOut } from "./card.js";
import { announce, button, make } from "./dom.js";
import { makeField } from "./fields.js";
import { post } from "./api.js";

const PAUSE_MILLISECONDS = 200;

export function formCard(view, desk) {
  const card = makeCard(view, desk, { title: `${view.who} asks`, kind: "form" });
  const path = `/cards/${view.id}`;
  const waiting = new Map();
  const rounds = new Map();

  const fields = view.fields.map((one, index) => makeField(one, index, desk.words, { changed, excused }));
  fields.forEach((field) => { field.problem(field.view.problem); field.stop(field.view.stop); });
  card.element.addEventListener("focusout", (event) => {
    const field = fields.find((one) => one.element.contains(event.target));
    if (field !== undefined && waiting.has(field.index)) fill(field);
  });
  card.element.addEventListener("keydown", (event) => {
    const isLine = event.target.matches?.("input:not([type=radio]):not([type=checkbox])");
    if (event.key === "Enter" && !event.repeat && !event.isComposing && (isLine || event.ctrlKey || event.metaKey)
      && "ready" in card.element.dataset && form.isConnected && !card.element.classList.contains("over")) {
      event.preventDefault();
      if (view.refusal === null) review();
    }
  });

  function changed(field) {
    card.say(null);
    clearTimeout(waiting.get(field.index));
    waiting.set(field.index, setTimeout(() => fill(field), PAUSE_MILLISECONDS));
  }

  async function fill(field, { keepalive = false } = {}) {
    clearTimeout(waiting.get(field.index));
    waiting.delete(field.index);
    const round = (rounds.get(field.index) ?? 0) + 1;
    rounds.set(field.index, round);
    try {
      const reply = await post(`${path}/fill`, { field: field.index, value: field.value() }, { keepalive });
      if (rounds.get(field.index) !== round) return;
      field.problem(reply.problem);
      field.stop(reply.stop);
    } catch (error) {
      if (!card.element.classList.contains("over")) desk.failed(card, error);
    }
  }

  async function excused(field) {
    await desk.attempt(card, async () => {
      await post(`${path}/excuse`, { field: field.index });
      field.stop(null);
    });
    field.focus();
  }

  const form = make("div", { class: "fields" }, ...fields.map((field) => field.element));
  const notes = [view.refusal && caution(view.refusal), view.banner && caution(view.banner),
    ...view.left_out.map((words) => make("p", { class: "left-out" }, words))];
  const isBare = fields.length === 0 && view.refusal === null;
  const nothing = isBare ? [make("p", { class: "lead" }, desk.words.nothing_to_fill_in)] : [];

  async function review() {
    await desk.attempt(card, async () => {
      waiting.forEach((timer) => clearTimeout(timer));
      waiting.clear();
      fields.forEach((field) => rounds.set(field.index, (rounds.get(field.index) ?? 0) + 1));
      const reply = await post(`${path}/review`, { values: fields.map((field) => field.value()) });
      fields.forEach((field) => {
        field.problem(reply.problems[field.index]);
        field.stop(reply.stops[field.index]);
      });
      const first = fields.find((field) => field.index in reply.problems || field.index in reply.stops);
      if (first === undefined) return showReview(reply);
      first.focus();
      return announce(reply.said);
    });
  }

  function showForm() {
    card.body.replaceChildren(...notes.filter(Boolean), theirWords(view, form), ...nothing, meanings(desk.words.explain));
    const main = view.refusal === null ? [button(desk.words.review, review, { look: "main" })] : [];
    waysOut(view, desk, card, { first: main });
    desk.guard(card);
  }

  function showReview(reply) {
    const sure = view.banner && make("input", { type: "checkbox", id: "sure", autocomplete: "off" });
    const title = make("h2", { tabindex: "-1" }, "Review before sending");
    card.body.replaceChildren(
      title,
      make("p", { class: "lead" }, reply.said),
      make("dl", { class: "review theirs" }, ...reply.lines.flatMap((line) => [
        make("dt", {}, line.label),
        make("dd", { class: line.changed ? "changed" : null },
          make("span", { class: "value" }, line.value.join("\n")),
          make("span", { class: "mark" }, line.mark),
          // Apart from the mark, which may end in the server's words.
          line.sent && make("span", { class: "sent" }, line.sent)),
      ])),
      ...(sure ? [caution(view.banner), make("label", { class: "option" }, sure, make("span", {}, desk.words.sure))] : []));
    const send = button(desk.words.send, () => {
      if (sure && !sure.checked) {
        card.say(desk.words.tick_first);
        return sure.focus();
      }
      return desk.settle(card, "send", { stamp: reply.stamp, sure: Boolean(sure?.checked) });
    }, { look: "main" });
    const back = button(desk.words.back, () => { card.say(null); showForm(); fields[0]?.focus(); });
    waysOut(view, desk, card, { first: [send, back] });
    desk.guard(card);
    title.focus();
    title.scrollIntoView({ block: "nearest" });
  }

  card.leave = () => fields.forEach((field) => {
    if (waiting.has(field.index)) fill(field, { keepalive: true });
  });
  showForm();
  return card;
}
