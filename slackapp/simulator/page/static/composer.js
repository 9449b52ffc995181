// A box to write in. What is sent is what stands in it, with "@reeve" and "!!"
// put in front where their switches are on.

import { h, icon, put } from "./dom.js";
import { avatar } from "./messages.js";

export class Composer {
  // send(text) sends; it throws what went wrong.
  constructor(form, send) {
    this.form = form;
    this.box = h("textarea", { rows: "1", autocomplete: "off", spellcheck: "false" });
    this.mention = h("input", { type: "checkbox", checked: true });
    this.force = h("input", { type: "checkbox" });
    this.who = h("span", { class: "as" });
    this.mentionLabel = h("label", { class: "switch" }, this.mention, h("span", {}));
    this.forceLabel = h("label", { class: "switch" }, this.force, h("span", {}, "!! join now"));
    this.error = h("p", { class: "error", role: "alert", hidden: true });
    this.button = h("button", { type: "submit", class: "primary send" }, icon("send", "Send"));
    put(form,
      h("div", { class: "field" }, this.who, this.box, this.button),
      h("div", { class: "switches" }, this.mentionLabel, this.forceLabel, h("span", { class: "hint" }, "Enter sends, Shift+Enter begins a line")),
      this.error);
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.submit(send);
    });
    this.box.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
        e.preventDefault();
        this.submit(send);
      }
    });
    this.box.addEventListener("input", () => this.fit());
  }

  // show says who writes where.
  show({ store, me, place, hint }) {
    const direct = store.channels.get(place).kind === "im";
    const sig = [me, place, hint].join();
    if (sig === this.sig) return;
    this.sig = sig;
    this.handle = store.people.get(store.bot.user_id)?.handle ?? "bot";
    put(this.who, avatar(store, me), h("span", { class: "unseen" }, `You write as ${store.name(me)}`));
    this.box.placeholder = `${store.name(me)}: ${hint}`;
    this.box.setAttribute("aria-label", `${hint}, as ${store.name(me)}`);
    this.mentionLabel.lastChild.textContent = "@" + this.handle;
    this.mentionLabel.title = "Mention the bot, so that the message is addressed to it";
    this.forceLabel.title = "Begin with !!, so that the message joins the turn that runs";
    this.mentionLabel.hidden = direct;
    this.direct = direct;
  }

  text() {
    const typed = this.box.value.trim();
    const mention = !this.direct && this.mention.checked && !typed.toLowerCase().includes("@" + this.handle.toLowerCase());
    const force = this.force.checked && !/^(@\S+\s*)?!!/.test(typed);
    return [mention && "@" + this.handle, force && "!!", typed].filter(Boolean).join(" ");
  }

  // submit empties the box at once, so that one can go on writing; what could
  // not be sent comes back.
  async submit(send) {
    const typed = this.box.value;
    if (!typed.trim()) return;
    const [text, force] = [this.text(), this.force.checked];
    this.box.value = "";
    this.force.checked = false;
    this.error.hidden = true;
    this.fit();
    try {
      await send(text);
    } catch (err) {
      this.error.textContent = err.message;
      this.error.hidden = false;
      this.box.value = [typed, this.box.value].filter(Boolean).join("\n");
      this.force.checked = force;
      this.fit();
    }
  }

  // fill prepares a message; sending it is left to the person.
  fill(text, { mention = true, force = false } = {}) {
    this.box.value = text;
    this.mention.checked = mention;
    this.force.checked = force;
    this.fit();
    this.box.focus();
  }

  fit() {
    const lines = Math.min(8, this.box.value.split("\n").length);
    this.box.rows = Math.max(1, lines);
  }
}
