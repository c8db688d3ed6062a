// A link: who wants it opened, where it leads, why; opened only after a deliberate word. Then the wait.

import { caution, makeCard, meanings, theirWords, tick, waysOut } from "./card.js";
import { announce, button, make } from "./dom.js";
import { post } from "./api.js";

function facts(view) {
  const [before, domain, after] = view.where;
  return make("dl", { class: "facts" },
    make("dt", {}, "Who"), make("dd", {}, view.whole_who),
    make("dt", {}, "Where"), make("dd", { class: "host" }, make("span", { class: "dim" }, before),
      make("strong", {}, domain), make("span", { class: "dim" }, after)),
    make("dt", {}, "Why"), make("dd", {}, view.purpose));
}

function address(view) {
  return make("div", { class: "address" },
    make("p", { class: "eyebrow", id: "address-title" }, "The whole address"),
    make("div", { class: "url", tabindex: "0", role: "group", "aria-labelledby": "address-title" }, view.url.join("\n")));
}

function anchor(href, words, act) {
  const clicked = (event) => {
    if ("ready" in event.currentTarget.closest(".card").dataset) act();
    else event.preventDefault();
  };
  const attributes = { class: "firm", href, target: "_blank", rel: "noopener noreferrer" };
  return make("a", { ...attributes, onclick: clicked, onauxclick: clicked }, words);
}

export function visitCard(view, desk) {
  const card = makeCard(view, desk, { title: `${view.who} wants to open a page`, kind: "visit" });
  card.body.append(
    ...(view.refusal ? [caution(view.refusal)] : []),
    facts(view), address(view),
    ...view.warnings.map(caution),
    ...(view.note ? [make("p", { class: "lead" }, view.note)] : []),
    theirWords(view), meanings(desk.words.explain));

  const open = button(desk.words.open, () => desk.attempt(card, async () => {
    desk.claim(card);
    card.say(desk.words.opening);
    const reply = await post(`/cards/${view.id}/open`);
    if (reply.outcome) desk.finished(card, reply);
    else {
      desk.claim(card, false);
      byHand(reply.href);
    }
  }), {
    look: "firm",
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      card.say(desk.words.press_space);
    },
  });

  // Where no browser could be started from the Python side: the link itself, which exists only after the consent.
  function byHand(href) {
    card.say(desk.words.by_hand);
    card.element.classList.add("consented");
    waysOut(view, desk, card, { last: [anchor(href, desk.words.open_here, () => desk.settle(card, "opened"))] });
    desk.guard(card);
    card.heading.focus({ preventScroll: true });
  }

  const last = view.refusal === null ? [open] : [];
  if (view.href) byHand(view.href);
  else waysOut(view, desk, card, { last });
  card.focus = () => card.foot.querySelector("#decline").focus({ preventScroll: true });
  desk.guard(card);
  return card;
}

export function waitCard(view, desk) {
  const card = makeCard(view, desk, { title: "Waiting for you to come back", kind: "wait" });
  const clock = make("span", { class: "clock", role: "timer", "aria-live": "off" });
  const timer = tick(clock, view.seconds);
  card.body.append(
    make("p", { class: "lead" }, desk.words.waiting),
    make("p", { class: "elapsed" }, "Open for ", clock),
    facts(view), address(view), meanings(desk.words.explain_wait));
  const out = (act) => () => desk.settle(card, act);
  const retry = button(desk.words.retry, () => desk.attempt(card, async () => {
    card.say(desk.words.opening);
    const { href } = await post(`/cards/${view.id}/retry`);
    if (href === null) card.say(desk.words.opened_again);
    else byHand(href);
  }));

  function byHand(href) {
    const link = anchor(href, desk.words.open_here, () => card.say(desk.words.opened_again));
    card.say(desk.words.by_hand);
    retry.replaceWith(link);
    link.focus({ preventScroll: true });
  }

  card.foot.append(
    make("div", { class: "actions" },
      button(desk.words.done, out("done"), { look: "main" }),
      retry,
      button(desk.words.cancel, out("cancel"), { look: "plain" })));
  card.leave = () => clearInterval(timer);
  announce(desk.words.waiting);
  desk.guard(card);
  return card;
}
