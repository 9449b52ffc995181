// What became of each message, and who has the turn, from the lines of the
// bot's log. The words are those of the log.

export const userOf = (actor) => (actor ?? "").slice((actor ?? "").indexOf(":") + 1);
const placeOf = (conversation) => conversation.split(":");
const steers = ["steer", "steer_context", "join_parked", "end_wait"];

export class Fates {
  constructor() {
    this.messages = new Map(); // "CHANNEL:TS" -> fate
    this.turns = new Map(); // id -> turn
    this.latest = new Map(); // conversation -> id of its newest turn that ran
  }

  of(channel, ts) {
    return this.messages.get(channel + ":" + ts);
  }

  hear(line, at) {
    switch (line.msg) {
      case "message":
        return this.decided(line);
      case "message routed":
      case "message handed back":
        return this.moved(line);
      case "turn runs":
        return this.runs(line, at);
      case "turn waits for its actor":
        return this.parks(line);
      case "turn ended":
        return this.ended(line, line.outcome, at);
      case "turn abandoned":
        return this.ended(line, "abandoned", at);
    }
  }

  decided(line) {
    const [, channel] = placeOf(line.conversation);
    const key = channel + ":" + line.ts;
    const known = this.messages.get(key);
    if (line.disposition === "ignored") return;
    if (line.change === "edit" || line.change === "deletion") return this.changed(line, known);
    if (line.disposition === "duplicate" && known) {
      known.again = (known.again ?? 0) + 1;
      return;
    }
    const fate = {
      // Of a message whose first delivery was not heard of, that decision holds.
      word: line.disposition === "duplicate" ? line.first || "duplicate" : line.disposition, channel, ts: line.ts, conversation: line.conversation,
      author: userOf(line.author), turn: line.turn || null, forced: !!line.forced,
      runs: line.runs ? userOf(line.runs) : null, withdrawn: line.withdrawn ?? 0,
    };
    this.messages.set(key, fate);
    if (fate.withdrawn > 0) {
      for (const f of this.messages.values()) {
        if (f.conversation === fate.conversation && f.author === fate.author && f.word === "wait" && !f.turn && f.ts < fate.ts) f.gone = true;
      }
    }
    const turn = this.turns.get(fate.turn);
    if (turn && fate.word === "stop") turn.stop ??= fate;
    if (turn && fate.word === "steer_context" && !turn.told.includes(fate.author)) turn.told.push(fate.author);
  }

  // changed is what an edit or a deletion did to a message that is known.
  changed(line, known) {
    const turn = this.turns.get(line.turn);
    switch (line.disposition) {
      case "stop":
        if (turn) turn.stop ??= { author: userOf(line.author) || turn.actor, ts: line.ts };
        break;
      case "withdraw":
        if (known) known.gone = true;
        break;
      case "replace_text":
        if (known) known.note = "Its new text counts.";
        break;
      case "steer":
        if (known) known.note = "Its new text joined as a correction.";
        break;
    }
  }

  // moved is another opinion on a message: the router's, or, where it was handed
  // back, that of the turn which has read it.
  moved(line) {
    const [, channel] = placeOf(line.conversation);
    const fate = this.of(channel, line.ts);
    if (!fate) return;
    const turn = this.turns.get(line.turn);
    const word = line.disposition ?? "wait";
    Object.assign(fate, { word, turn: word === "wait" ? null : line.turn, forced: false, runs: turn?.actor ?? fate.runs });
    if (turn && word === "steer_context" && !turn.told.includes(fate.author)) turn.told.push(fate.author);
  }

  runs(line, at) {
    const known = this.turns.get(line.turn);
    const turn = known ?? { id: line.turn, conversation: line.conversation, actor: userOf(line.actor), told: [], began: at };
    Object.assign(turn, { state: "running", attempt: line.attempt ?? 1 });
    this.turns.set(turn.id, turn);
    this.latest.set(turn.conversation, turn.id);
    this.claim(turn, line.messages);
  }

  // parks is a turn that has asked its actor: others are served meanwhile.
  parks(line) {
    const turn = this.turns.get(line.turn);
    if (turn) turn.state = "parked";
  }

  ended(line, outcome, at) {
    const turn = this.turns.get(line.turn);
    if (!turn) return;
    turn.state = outcome;
    turn.ended = at;
    this.claim(turn, line.messages);
    // A steer that the turn did not take in is no longer part of it.
    for (const f of this.messages.values()) {
      if (f.turn !== turn.id || !steers.includes(f.word) || line.messages?.includes(f.ts)) continue;
      if (turn.stop && f.ts < turn.stop.ts) f.gone = true;
      else if (line.messages) Object.assign(f, { turn: null, late: true });
    }
  }

  // claim notes that messages are a turn's own.
  claim(turn, list) {
    const [, channel] = placeOf(turn.conversation);
    for (const ts of list ?? []) {
      const f = this.of(channel, ts);
      if (f) f.turn = turn.id;
    }
  }

  // phase is where a message stands now: waiting, running, parked, done, stopped,
  // failed, abandoned, withdrawn, or "" for one that is no part of a turn.
  phase(f) {
    if (f.gone) return "withdrawn";
    if (f.turn && (f.word === "start" || f.word === "wait" || steers.includes(f.word))) {
      return this.turns.get(f.turn)?.state ?? "running";
    }
    return f.word === "wait" || f.late ? "waiting" : "";
  }

  // running is the turn that runs in a conversation, or null.
  running(conversation) {
    const turn = this.turns.get(this.latest.get(conversation));
    return turn?.state === "running" ? turn : null;
  }

  last(conversation) {
    return this.turns.get(this.latest.get(conversation)) ?? null;
  }

  // queue are those who wait in a conversation, as turns will be: contiguous
  // messages of one author count as one, [{author, messages}].
  queue(conversation) {
    const waiting = [...this.messages.values()].filter((f) => f.conversation === conversation && this.phase(f) === "waiting");
    waiting.sort((a, b) => (a.ts < b.ts ? -1 : 1));
    const queue = [];
    for (const f of waiting) {
      const last = queue.at(-1);
      if (last?.author === f.author) last.messages++;
      else queue.push({ author: f.author, messages: 1 });
    }
    return queue;
  }
}

// tell says a fate to a reader: {word, tone, icon, text}. name(user) is how
// people are called.
export function tell(fates, f, name) {
  const phase = fates.phase(f);
  const turn = fates.turns.get(f.turn);
  const whose = turn ? name(turn.actor) : f.runs ? name(f.runs) : "";
  const end = { running: "", parked: `Waits for ${whose}’s answer, in direct messages.`, done: "Answered.", stopped: "Stopped.", failed: "The bot gave up.", abandoned: "Abandoned.", withdrawn: "Taken back." }[phase] ?? "";
  const word = f.word.replaceAll("_", " ");
  const out = (tone, icon, text) => ({ word, tone: phase === "withdrawn" ? "quiet" : tone, icon, text, phase });
  switch (f.word) {
    case "start":
      return out("go", "play", end || `Began a turn that acts for ${name(f.author)}.`);
    case "wait":
      if (phase === "waiting") return out("wait", "wait", f.runs && f.runs !== f.author ? `Follow-up: comes after ${name(f.runs)}’s turn.` : "Follow-up: waits for its turn.");
      return out("go", "wait", "Follow-up. " + (end || `Its turn runs now, for ${name(f.author)}.`));
    case "steer":
      if (phase === "waiting") return out("wait", "wait", "Came too late for that turn: waits for one of its own.");
      return out("go", "steer", end ? `Joined ${own(f, turn, whose, name)} turn. ${end}` : `Joins ${own(f, turn, whose, name)} turn, as an instruction.`);
    case "steer_context":
      if (phase === "waiting") return out("wait", "wait", "Came too late for that turn: waits for one of its own.");
      return out("info", "info", `${f.forced ? "Forced: " : ""}${phase === "running" ? "joins" : "joined"} ${whose}’s turn as information, not as an order.`.replace(/^j/, "J"));
    case "join_parked":
      return out("go", "steer", end || "Joins its author’s parked turn; read when that goes on.");
    case "end_wait":
      return out("go", "steer", end || "Ends the wait of its author’s turn.");
    case "stop":
      return out("stop", "stop", `Stops ${whose ? whose + "’s" : "the"} turn${taken(f)}.`);
    case "withdraw_own":
      return out("quiet", "undo", f.withdrawn ? `Takes back ${count(f.withdrawn)}.` : "Nothing of its author’s waits.");
    case "nothing_running":
      return out("quiet", "dot", "Nothing is running.");
    case "context":
      return out("quiet", "dot", "Starts nothing; later turns may read it as background.");
    case "refused":
      return out("stop", "no", "No room: too many messages wait.");
    case "duplicate":
      return out("quiet", "twice", "Known already; the first delivery counts.");
  }
  return out("quiet", "dot", "");
}

const own = (f, turn, whose, name) => (turn && turn.actor === f.author ? `${whose}’s own` : `${whose || name(f.author)}’s`);
const count = (n) => (n === 1 ? "one waiting message" : `${n} waiting messages`);
const taken = (f) => (f.withdrawn ? `, and takes back ${count(f.withdrawn)}` : "");
