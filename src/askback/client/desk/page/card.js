// What every card has: who asks and why, the frame around the server's own words, and the ways out, always in sight.

import { button, make, text } from "./dom.js";

export function makeCard(view, desk, { title, kind }) {
  const behind = make("span");
  const heading = make("h1", { id: "title", tabindex: "-1" }, title);
  const notice = make("div", { class: "notice", role: "status" });
  const body = make("div", { class: "body" });
  const foot = make("footer", { class: "foot" });
  const element = make("article", { class: `card ${kind}`, "aria-labelledby": "title", "data-id": view.id },
    make("header", { class: "head" },
      make("p", { class: "eyebrow" }, view.place, behind), heading,
      ...(kind === "form" ? [
        make("p", { class: "why" }, view.why, view.at && ` · at ${view.at}`),
        view.says && make("p", { class: "says" }, "It calls itself ", make("span", { class: "quoted" }, view.says), ", in its own words."),
      ] : [])),
    notice, body, foot);

  const card = {
    id: view.id, element, body, foot, heading,
    focus: () => heading.focus({ preventScroll: true }),
    leave: () => {},
    behind: (count) => text(behind, count > 0 ? `, ${count} more waiting` : ""),
    say: (words) => notice.replaceChildren(...(words ? [make("p", { class: "banner note" }, words)] : [])),
    // The question is over, here or elsewhere; what was typed stays until the person closes it.
    over(words, close) {
      element.classList.add("over");
      notice.replaceChildren(make("p", { class: "banner gone" }, words));
      foot.replaceChildren(make("div", { class: "actions" }, button(desk.words.close, close, { look: "main" })));
    },
  };
  return card;
}

export function theirWords(view, ...rest) {
  return make("section", { class: "theirs", "aria-label": `Written by ${view.who}` },
    make("p", { class: "byline", "aria-hidden": "true" }, `Written by ${view.who}`),
    make("div", { class: "message", tabindex: "0", role: "group", "aria-label": "Message" },
      ...view.message.map((line) => make("p", { class: line.startsWith("  ") ? "line fixed" : "line" }, line))),
    ...rest);
}

export const caution = (words) => make("p", { class: "banner caution" }, make("strong", {}, "Careful: "), words);

export const meanings = (words) => make("p", { class: "meanings" }, words);

// Decline and Cancel: two words for two things. `first` stands before them, `last` behind.
export function waysOut(view, desk, card, { first = [], last = [] }) {
  const out = (act) => () => desk.settle(card, act);
  const row = make("div", { class: "actions" }, ...first,
    button(desk.words.decline, out("decline"), { id: "decline" }), ...last,
    button(desk.words.cancel, out("cancel"), { look: "plain" }),
    button(desk.words.decline_all, () => confirmAll(), { look: "plain small" }));

  function confirmAll() {
    const back = button(desk.words.back, () => {
      card.foot.replaceChildren(row);
      row.lastChild.focus();
    }, { look: "plain" });
    card.foot.replaceChildren(
      make("p", { class: "sure" }, `Decline this and every further question of ${view.who}, without showing them?`),
      make("div", { class: "actions" }, button(desk.words.decline_all, out("decline-all"), { look: "main" }), back));
    desk.guard(card);
    back.focus();
  }
  card.foot.replaceChildren(row);
}

export function tick(element, seconds) {
  const began = performance.now() - seconds * 1000;
  const show = () => {
    const all = Math.max(0, Math.floor((performance.now() - began) / 1000));
    text(element, `${Math.floor(all / 60)}:${String(all % 60).padStart(2, "0")}`);
  };
  show();
  return setInterval(show, 1000);
}
