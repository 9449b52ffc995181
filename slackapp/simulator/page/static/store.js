// What the page knows: a snapshot of the simulator, the events after it, and
// what the bot's log said of messages and turns.

import { Fates } from "./fates.js";

export class Store {
  constructor(state) {
    this.seq = state.seq;
    this.bot = state.bot;
    this.people = new Map(state.people.map((p) => [p.id, p]));
    this.channels = new Map();
    for (const c of state.channels) {
      this.channels.set(c.id, { ...c, messages: new Map(c.messages.map((m) => [m.ts, m])) });
    }
    this.ephemerals = Object.values(state.ephemerals ?? {}).flat();
    this.fates = new Fates();
    this.windows = new Map(); // open windows by id
    this.homes = new Map(); // person -> his home tab
  }

  // hear takes one event and answers what it was about: "message", "private",
  // "fate", "view", or nothing.
  hear(e) {
    if (e.kind === "annotation") {
      if (e.name !== "log") return null;
      this.fates.hear(e.data, Date.parse(e.time));
      return e.data.msg.startsWith("message") ? "fate" : "turn";
    }
    if (e.kind.startsWith("view")) return this.view(e);
    if (e.seq <= this.seq) return null; // it is in the snapshot
    const messages = (id) => this.channels.get(id)?.messages;
    switch (e.kind) {
      case "message":
      case "message_changed":
        messages(e.message.channel)?.set(e.message.ts, e.message);
        return e.kind === "message" ? "message" : "change";
      case "message_deleted":
        this.forget(e.message);
        return "change";
      case "reaction_added":
      case "reaction_removed":
        this.react(messages(e.reaction.channel)?.get(e.reaction.ts), e.reaction, e.kind === "reaction_added");
        return "change";
      case "ephemeral":
        this.ephemerals.push(e.ephemeral);
        return "private";
    }
    return null;
  }

  // view is a window that came, changed or went, or a home tab.
  view(e) {
    const v = e.view;
    if (e.kind === "view_closed") this.windows.delete(v.id);
    else if (e.kind === "view_refused") this.windows.set(v.id, { ...v, errors: e.data?.errors ?? {} });
    else if (v.view.type === "home") this.homes.set(v.user, v);
    else this.windows.set(v.id, v);
    return "view";
  }

  // windowOf is the window that a person sees last.
  windowOf(user) {
    return [...this.windows.values()].findLast((v) => v.user === user) ?? null;
  }

  // forget removes a message; one with replies leaves its place behind.
  forget(m) {
    const messages = this.channels.get(m.channel)?.messages;
    if (!messages) return;
    if ([...messages.values()].some((r) => r.thread_ts === m.ts && r.ts !== m.ts)) {
      messages.set(m.ts, { channel: m.channel, ts: m.ts, thread_ts: m.ts, subtype: "tombstone", text: "This message was deleted." });
    } else {
      messages.delete(m.ts);
    }
  }

  react(m, { user, name }, added) {
    if (!m) return;
    m.reactions ??= [];
    let r = m.reactions.find((one) => one.name === name);
    if (!r) m.reactions.push((r = { name, users: [] }));
    r.users = r.users.filter((u) => u !== user);
    if (added) r.users.push(user);
    m.reactions = m.reactions.filter((one) => one.users.length > 0);
  }

  // personas are the people whom one may be: members of the bot's own team.
  personas() {
    return [...this.people.values()].filter((p) => !p.is_bot && !p.is_guest && !p.is_foreign);
  }

  // places are the channels in which a person can talk to the bot.
  places(user) {
    const order = (c) => (c.name === "general" ? 0 : c.kind === "im" ? 1 : 2);
    return [...this.channels.values()]
      .filter((c) => c.members.includes(user) && c.members.includes(this.bot.user_id))
      .filter((c) => ["channel", "group", "im"].includes(c.kind) && !c.is_ext_shared)
      .sort((a, b) => order(a) - order(b) || (a.name < b.name ? -1 : 1));
  }

  placeName(c) {
    return c.kind === "im" ? this.name(this.bot.user_id) : c.name;
  }

  // name is how a person is called, or a channel.
  name(user) {
    return this.people.get(user)?.name ?? this.people.get(user)?.handle ?? this.channels.get(user)?.name ?? user;
  }

  // roots are a channel's messages that are no replies, oldest first.
  roots(channel) {
    return this.sorted(channel, (m) => !m.thread_ts || m.thread_ts === m.ts);
  }

  // thread is a root and its replies, oldest first.
  thread(channel, root) {
    return this.sorted(channel, (m) => m.ts === root || m.thread_ts === root);
  }

  sorted(channel, filter) {
    const messages = [...(this.channels.get(channel)?.messages.values() ?? [])].filter(filter);
    return messages.sort((a, b) => (a.ts < b.ts ? -1 : 1));
  }

  // notices are what one person was told in private at one place; root is
  // empty for those outside any thread.
  notices(user, channel, root) {
    return this.ephemerals.filter((e) => e.user === user && e.channel === channel && (e.thread_ts ?? "") === root);
  }

  conversation(channel, root) {
    return `${this.bot.team_id}:${channel}:${root}`;
  }
}
