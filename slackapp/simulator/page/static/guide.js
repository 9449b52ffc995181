// The short way to see every rule once. A step prepares a message; whether it
// has been seen is read from what really happened.

import { h, icon, keep } from "./dom.js";

const steps = [
  { key: "start", who: 0, fate: (f) => f.word === "start", title: "Ask something", text: "Draft a short announcement of our launch", root: true,
    why: "The bot begins a turn, which acts for you alone." },
  { key: "steer", who: 0, fate: (f) => f.word === "steer", title: "Add to it", text: "two sentences, please",
    why: "While it works: your own words steer the turn, which goes on." },
  { key: "wait", who: 1, fate: (f) => f.word === "wait", title: "Ask as well", text: "when is the next all-hands?",
    why: "It waits, and becomes a turn of its own." },
  { key: "forced", who: 1, force: true, fate: (f) => f.word === "steer_context", title: "Begin with !!", text: "the launch has moved to Tuesday",
    why: "It joins now, as information. For whom the turn acts stays as it is." },
  { key: "stop", who: 2, mention: false, fate: (f) => f.word === "stop", title: "Stop it", text: "stop",
    why: "Anybody may. What others have waiting stays." },
];

// guide shows the steps. prepare(persona, step) fills the box to write in.
export function guide(list, store, prepare) {
  const people = store.personas();
  const fates = [...store.fates.messages.values()];
  keep(list, steps.map((step) => {
    const person = people[step.who % people.length];
    const seen = fates.some(step.fate);
    return {
      key: step.key, sig: String(seen),
      build: () => h("li", { data: { step: step.key, seen: seen && "yes" } },
        h("span", { class: "tick" }, seen && icon("check", "Seen")),
        h("div", {},
          h("button", { type: "button", data: { focus: step.key }, on: { click: () => prepare(person.id, step) } }, step.title,
            h("span", { class: "as-who" }, `as ${person.name}`)),
          h("p", {}, step.why))),
    };
  }));
}
