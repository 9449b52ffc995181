// The windows that the bot opens for a person, and his home tab.

import { h, put } from "./dom.js";
import { blocks } from "./blocks.js";

export class Window {
  // acts are submit(view, values), close(view) and press(action) of the home tab.
  constructor(dialog, acts) {
    this.dialog = dialog;
    this.acts = acts;
    this.shown = null;
    dialog.addEventListener("cancel", (e) => {
      e.preventDefault();
      this.leave();
    });
  }

  leave() {
    if (this.shown) this.acts.close(this.shown);
  }

  // show shows a view, or closes the window for null. home: it is a home tab,
  // which has nothing to hand in.
  show(view, name, home) {
    const sig = view && JSON.stringify([view.id, view.hash, view.errors, home]);
    if (sig === this.sig) return;
    const same = view && this.shown?.id === view.id;
    const typed = same ? this.values() : {};
    this.sig = sig;
    this.shown = view;
    if (!view) {
      if (this.dialog.open) this.dialog.close();
      return;
    }
    const v = view.view;
    put(this.dialog, h("form", { class: "view", method: "dialog", on: { submit: (e) => this.submit(e) } },
      h("h2", { id: "window-title" }, home ? "Home tab" : v.title?.text ?? ""),
      h("div", { class: "text" }, blocks(v.blocks, name, (action) => this.acts.press(action), view.errors)),
      h("div", { class: "row" },
        v.submit && h("button", { type: "submit", class: "primary" }, v.submit.text),
        h("button", { type: "button", on: { click: () => this.leave() } }, v.close?.text ?? "Close"))));
    for (const input of this.inputs()) input.value = typed[input.dataset.block]?.[input.dataset.action] ?? "";
    if (!this.dialog.open) this.dialog.showModal();
    (this.inputs()[0] ?? this.dialog.querySelector(".row button")).focus();
  }

  inputs() {
    return [...this.dialog.querySelectorAll("input[data-block]")];
  }

  values() {
    const values = {};
    for (const i of this.inputs()) (values[i.dataset.block] ??= {})[i.dataset.action] = i.value;
    return values;
  }

  submit(e) {
    e.preventDefault();
    if (this.shown && this.dialog.querySelector("[type=submit]")) this.acts.submit(this.shown, this.values());
  }
}
