import { expect } from 'vitest';
import { readStream } from '../../src/nats/jetstream/direct-get.js';
import { soon } from './soon.js';
import { allDealtWith, publishReview, publishWork, type System } from './system.js';

/** Sessions that are forgotten: what is stored of them before, and what may be after. */

/** A session that says a word in every place that keeps something of it. */
export async function furnished(
  { client, ports }: Pick<System, 'client' | 'ports'>,
  session: string,
  word: string,
  project = 'default',
): Promise<void> {
  const { tools } = client;
  await tools.sessionOpen({ session, goal: `${word} goal`, spec: `# ${word} spec`, project });
  await tools.taskAdd({ session, content: `${word} task` });
  await tools.noteAdd({ session, content: `${word} note: name every error`, type: 'learning' });
  await tools.inboxAdd({ session, content: `${word} message` });
  await tools.iterationStart({ session });
  for (let at = 0; at < 12; at += 1) {
    const facts = [{ subject: `${word} fact`, relation: 'holds', object: `${word} ${at}` }];
    await publishWork(client, session, '1', { summary: `${word} summary ${at}`, facts });
  }
  for (const task of ['1', '2', '3']) {
    const required_fixes = [`${word} demand: close the file`];
    await publishReview(client, session, task, 'needs_changes', { required_fixes });
  }
  const text = new TextEncoder().encode(`{"task_id": "9", "nonsense": "${word} rejected"}`);
  await ports.source.publish(`dispatch.${session}.implementer`, text);
  await allDealtWith(ports);
  await tools.iterationComplete({ session });
  for (let at = 0; at < 3; at += 1)
    await client.compile({
      session,
      kind: 'dispatch',
      role: 'implementer',
      taskId: '1',
      taskPrompt: `${word} ask ${at}`,
    });
  await soon(async () => expect((await tools.promptList({ session })).prompts).toHaveLength(3));
  await soon(async () => {
    const { proposals } = await client.proposals.list({ project });
    expect(JSON.stringify(proposals)).toContain(`${word} note`);
  });
}

/** Everything that the store holds, as text. */
export async function storedText({ ports: { connection } }: Pick<System, 'ports'>): Promise<string> {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const texts: string[] = [];
  for await (const name of jsm.streams.names()) {
    for (const { subject, data } of await readStream({ connection, stream: name, timeoutMs: 5000 }, '>', {
      from: 1,
    }))
      texts.push(`${name} ${subject} ${new TextDecoder().decode(data)}`);
  }
  return texts.join('\n');
}

/** Has a session forgotten, and waits until it is. */
export async function forgotten(
  { client }: Pick<System, 'client'>,
  session: string,
  more: { withLearnings?: boolean } = {},
) {
  const ask = (dryRun: boolean) => client.tools.sessionForget({ session, confirm: session, dryRun, ...more });
  const begun = await ask(false);
  let reply = begun;
  await soon(async () => {
    if (reply.state === 'running') reply = await ask(true);
    expect(reply.state).not.toBe('running');
  });
  return reply.state === 'done' ? reply : { ...begun, state: 'done' as const };
}
