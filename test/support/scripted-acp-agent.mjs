// The scripted agent behind the Agent Client Protocol: `node scripted-acp-agent.mjs FOLDER`. What the script says of a call with
// one of these words happens here, and the rest as in `scripted-agent.mjs`. FOLDER/permissions gets what a person decided.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const [, , folder] = process.argv;
const SCRIPTED = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url));
const script = JSON.parse(readFileSync(join(folder, 'script.json'), 'utf8'));
const { update, requestPermission } = methods.client.session;
let cancelled = () => {};

if (script.signedOut) {
  console.error('sign in first');
  process.exit(1);
}
agent()
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    writeFileSync(join(folder, 'cwd'), params.cwd);
    return { sessionId: 's1' };
  })
  .onNotification(methods.agent.session.cancel, () => cancelled())
  .onRequest(methods.agent.session.prompt, prompted)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

async function prompted({ params: { sessionId, prompt }, client }) {
  const [{ text }] = prompt;
  const send = (told) => client.notify(update, { sessionId, update: told });
  const say = (words) =>
    send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } });
  const key = `${/^Task (.+?)(?:, round \d+)?$/m.exec(text)[1]} ${/You are the (implementer|reviewer)/.exec(text)[1]}`;
  const calls = join(folder, 'calls');
  const before = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : [];
  const [what, ...args] = (script[key]?.[before.filter((line) => line === key).length] ?? '').split('|');
  await say('I begin.');
  await send({ sessionUpdate: 'tool_call', toolCallId: 't1', title: 'read', status: 'completed' });
  if (what === 'wait') {
    appendFileSync(calls, `${key}\n`);
    await new Promise((resolve) => {
      cancelled = resolve;
    });
    appendFileSync(join(folder, 'cancelled'), '1');
    return { stopReason: 'cancelled' };
  }
  if (what === 'crash') {
    appendFileSync(calls, `${key}\n`);
    console.error('the model said: out of credit');
    process.exit(1);
  }
  if (what === 'permit') process.stdout.write('{"jsonrpc":"2.0","id":"\\u001b[2JNo question","result":{}}\n');
  for (const command of what === 'permit' ? args : []) {
    // A bare request does not say what is done.
    const rawInput = command.startsWith('bare ') ? {} : { command };
    const toolCall = { toolCallId: command, title: 'Shell', rawInput };
    const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({
      ...{ optionId: kind, name: kind, kind },
    }));
    const { outcome } = await client.request(requestPermission, { sessionId, toolCall, options });
    appendFileSync(join(folder, 'permissions'), `${command}: ${outcome.optionId ?? outcome.outcome}\n`);
    if (outcome.outcome === 'cancelled') {
      appendFileSync(calls, `${key}\n`);
      return { stopReason: 'cancelled' };
    }
  }
  // The scripted agent does not know these words.
  const turn = { permit: 'completed', limit: 'none' }[what];
  const env = { ...process.env, ...(turn !== undefined && { SCRIPTED_TURN: turn }) };
  const { stdout } = spawnSync(process.execPath, [SCRIPTED, folder], { input: text, encoding: 'utf8', env });
  // In small pieces, as a model does.
  for (const piece of stdout.match(/[\s\S]{1,40}/g) ?? []) await say(piece);
  await send({ sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount: 0.25, currency: 'USD' } });
  return {
    stopReason: what === 'limit' ? 'max_tokens' : 'end_turn',
    usage: { totalTokens: 1500, inputTokens: 1000, outputTokens: 500 },
  };
}
