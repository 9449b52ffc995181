// Plays the part of a bot written with Slack's own Node clients. The simulator
// that it meets stands at the address given as first argument, with the key of
// its controls as second. Prints "ok NAME" or "not ok NAME: why" a scenario.
import assert from 'node:assert/strict';
import { SocketModeClient, LogLevel } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';

const [base, key, botToken, appToken] = process.argv.slice(2);
const slackApiUrl = `${base}/api/`;
const web = new WebClient(botToken, { slackApiUrl, logLevel: LogLevel.ERROR });
const socket = new SocketModeClient({
  appToken, clientPingTimeout: 400, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl, logLevel: LogLevel.ERROR },
});
const [general, alice, bob, aliceDM] = ['CGENERAL', 'UALICE', 'UBOB', 'DALICE'];

async function control(path, body) {
  const response = await fetch(`${base}/sim/${path}`, {
    method: body ? 'POST' : 'GET', headers: { 'X-Sim-Key': key, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}
const say = (user, channel, text, more) => control('say', { user, channel, text, ...more });

// Every payload is kept until a scenario takes it; only what is taken is acknowledged.
const inbox = [];
let arrived = () => {};
socket.on('slack_event', (e) => { inbox.push(e); arrived(); });
async function take(match) {
  for (;;) {
    const i = inbox.findIndex(match);
    if (i >= 0) return inbox.splice(i, 1)[0];
    await bounded(new Promise((resolve) => { arrived = resolve; }), 'no such payload came');
  }
}
async function taken(match) { const e = await take(match); await e.ack(); return e; }
const ofEvent = (type, ts) => (e) => e.type === 'events_api' && e.body.event.type === type && (!ts || e.body.event.ts === ts);

function bounded(promise, why) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(why)), 10_000); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
const next = (name) => new Promise((resolve) => socket.once(name, resolve));

const scenarios = {
  async auth_test() {
    const who = await web.auth.test();
    assert.equal(who.user_id, 'UBOT');
    assert.ok(who.response_metadata.scopes.includes('chat:write'));
    const wrong = new WebClient('xoxb-wrong', { slackApiUrl, logLevel: LogLevel.ERROR });
    await assert.rejects(wrong.auth.test(), (e) => e.data.error === 'invalid_auth');
  },
  async connect_event_ack() {
    await bounded(socket.start(), 'no hello came');
    const { ts } = await say(alice, aliceDM, 'hello');
    const { body } = await taken(ofEvent('message', ts));
    assert.equal(body.event.user, alice);
    assert.equal(body.event.channel_type, 'im');
    assert.equal(body.authorizations[0].user_id, 'UBOT');
  },
  async redelivery() {
    const { ts } = await say(alice, aliceDM, 'once more');
    const first = await take(ofEvent('message', ts));
    assert.equal(first.retry_num, 0);
    const second = await taken(ofEvent('message', ts));
    assert.equal(second.retry_num, 1);
    assert.equal(second.retry_reason, 'timeout');
    assert.equal(second.body.event_id, first.body.event_id);
  },
  async mention_twins() {
    for (const twin of [0, 1]) {
      const { ts } = await say(bob, general, '<@UBOT> hi', { twin });
      const one = await taken((e) => e.body.event?.ts === ts);
      const two = await taken((e) => e.body.event?.ts === ts);
      assert.deepEqual([one.body.event.type, two.body.event.type], twin ? ['app_mention', 'message'] : ['message', 'app_mention']);
      assert.notEqual(one.body.event_id, two.body.event_id);
    }
  },
  async posts_and_replies() {
    const { ts: root } = await say(alice, general, 'a question');
    const posted = [];
    for (let i = 0; i < 4; i++) {
      const metadata = { event_type: 'part', event_payload: { id: `p${i}` } };
      const blocks = [{ type: 'markdown', text: '**an answer**' }];
      posted.push((await web.chat.postMessage({ channel: general, thread_ts: root, text: 'an answer', blocks, metadata })).ts);
    }
    const read = [];
    for await (const page of web.paginate('conversations.replies', { channel: general, ts: root, limit: 3, include_all_metadata: true })) {
      assert.equal(page.messages[0].ts, root);
      read.push(...page.messages.slice(1));
    }
    assert.deepEqual(read.map((m) => m.ts), posted);
    assert.equal(read[3].metadata.event_payload.id, 'p3');
    await assert.rejects(web.chat.postMessage({ channel: 'CNOWHERE', text: 'x' }), (e) => e.data.error === 'channel_not_found');
  },
  async update_reactions_ephemeral() {
    const { ts } = await web.chat.postMessage({ channel: general, text: 'draft' });
    await web.chat.update({ channel: general, ts, text: 'final' });
    await web.reactions.add({ channel: general, timestamp: ts, name: 'eyes' });
    await assert.rejects(web.reactions.add({ channel: general, timestamp: ts, name: 'eyes' }), (e) => e.data.error === 'already_reacted');
    await web.chat.postEphemeral({ channel: general, user: bob, text: 'only you' });
    const state = await control('state');
    const message = state.channels.find((c) => c.id === general).messages.find((m) => m.ts === ts);
    assert.equal(message.text, 'final');
    assert.equal(message.reactions[0].name, 'eyes');
    assert.equal(state.ephemerals[bob].at(-1).text, 'only you');
  },
  async rate_limit_honoured() {
    await control('fault', { method: 'chat.postMessage', status: 429, retry_after: 1 });
    const before = Date.now();
    await web.chat.postMessage({ channel: general, text: 'patience' });
    assert.ok(Date.now() - before >= 1000, 'the client did not wait');
  },
  async stays_connected() {
    // Several of the client's own ping rounds, each of which wants a pong.
    let closed = false;
    socket.once('close', () => { closed = true; });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(closed, false);
    assert.equal((await control('state')).sockets, 1);
  },
  async reconnect() {
    const again = next('connected');
    await control('fault', { socket: 'disconnect', reason: 'refresh_requested' });
    await bounded(again, 'no second connection');
    const { ts } = await say(alice, aliceDM, 'still there?');
    await taken(ofEvent('message', ts));
    for (const how of ['drop', 'close']) {
      const more = next('connected');
      await control('fault', { socket: how });
      await bounded(more, `no connection after ${how}`);
    }
  },
  async interactive() {
    const button = { type: 'button', action_id: 'approve', value: '42', text: { type: 'plain_text', text: 'Approve' } };
    const { ts } = await web.chat.postMessage({ channel: general, text: 'well?', blocks: [{ type: 'actions', elements: [button] }] });
    await control('click', { user: alice, channel: general, ts, action_id: 'approve' });
    const { body } = await taken((e) => e.type === 'interactive');
    assert.equal(body.actions[0].value, '42');
    assert.equal(body.user.id, alice);
    await web.views.open({ trigger_id: body.trigger_id, view: { type: 'modal', title: { type: 'plain_text', text: 'Sure?' }, blocks: [] } });
    const answered = await fetch(body.response_url, { method: 'POST', body: JSON.stringify({ replace_original: true, text: 'done' }) });
    assert.equal(answered.status, 200);
  },
  async files() {
    const { ts } = await say(alice, aliceDM, '', { files: [{ name: 'notes.txt', text: 'the notes' }] });
    const { body } = await taken(ofEvent('message', ts));
    const { file } = await web.files.info({ file: body.event.files[0].id });
    const got = await fetch(file.url_private_download, { headers: { Authorization: `Bearer ${botToken}` } });
    assert.equal(await got.text(), 'the notes');
    const sharer = await fetch(file.url_private_download);
    assert.match(sharer.headers.get('content-type'), /text\/html/);
    await web.filesUploadV2({ channel_id: aliceDM, thread_ts: ts, filename: 'answer.txt', content: 'four' });
  },
  async all_acknowledged_and_closed() {
    while (inbox.length) await inbox.pop().ack();
    await bounded(socket.disconnect(), 'the close handshake was not answered');
  },
};

let failed = 0;
for (const [name, scenario] of Object.entries(scenarios)) {
  try {
    await scenario();
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}: ${String(error?.stack ?? error).replaceAll('\n', ' | ')}`);
  }
}
process.exit(failed ? 1 : 0);
