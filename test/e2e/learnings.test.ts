import { expect, it } from 'vitest';
import { LEARNINGS_STREAM } from '../../src/contracts/names.js';
import { publishReview, soon, startSystem } from '../support/system.js';

it('proposals are made from reviews that came while the service of learnings did not run', async () => {
  await using first = await startSystem({ only: ['extractor', 'tools'] });
  for (const task of ['1', '2']) {
    await publishReview(first.client, 'away', task, 'needs_changes', { required_fixes: ['Add a test'] });
  }
  await using later = await startSystem({ nats: first.nats, only: ['learnings'] });
  const pending = async () => (await later.client.proposals.list({})).proposals;
  await soon(async () => expect(await pending()).toMatchObject([{ content: 'Add a test' }]));
});

it('a note that is edited or removed takes its pending proposal along', async () => {
  await using system = await startSystem();
  const { tools, proposals } = system.client;
  const session = 'notes';
  const pending = async () => (await proposals.list({})).proposals.map(({ content }) => content);
  const { note } = await tools.noteAdd({ session, content: 'We use pnpm', type: 'decision' });
  await soon(async () => expect(await pending()).toEqual(['We use pnpm']));
  await tools.noteEdit({ session, id: note.id, content: 'We use yarn' });
  await soon(async () => expect(await pending()).toEqual(['We use yarn']));
  await tools.noteDelete({ session, id: note.id });
  await soon(async () => expect(await pending()).toEqual([]));
});

const WORDS = ['Bytes', 'Names', 'Tables', 'Errors', 'Speed', 'Depth'];

it('prompts that come soon one after the other read no learnings again, and each has those accepted before it', async () => {
  await using system = await startSystem();
  const { client, ports } = system;
  const compiled = async () => {
    const { prompt } = await client.compile({ kind: 'session-start', session: 'warm', taskPrompt: 'parser' });
    return prompt;
  };
  await client.learnings.propose({ content: 'Read bytes, not characters' });
  await publishReview(client, 'warm', '1', 'approved');
  await compiled();
  const reads: string[] = [];
  ports.connection.subscribe('$JS.API.>', {
    callback(_, { subject }) {
      if (subject.includes(LEARNINGS_STREAM)) reads.push(subject);
    },
  });
  await ports.connection.flush();
  await new Promise((resolve) => setTimeout(resolve, 1100));
  for (let count = 0; count < 20; count += 1) await compiled();
  expect(reads, 'one read after the second in which it may still have come').toHaveLength(1);
  for (let count = 0; count < WORDS.length; count += 1) {
    const content = `${WORDS[count]} of the parser`;
    const { proposal } = await client.learnings.propose({ content });
    await client.proposals.accept({ id: proposal.id, by: 'anna', person: true, separate: true });
    expect(await compiled()).toContain(content);
    if (count % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 1050));
  }
});
