import { describe, expect, it } from 'vitest';
import { freshState, implemented, newSession, publishWire, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

const FACTS = [
  {
    subject: 'src/db.ts',
    relation: 'uses',
    object: 'one pool for all requests',
    tags: ['decision' as const],
  },
  { subject: 'deploy', relation: 'needs', object: 'the migration first' },
];

describe('an observer', () => {
  it('an observer adds what it saw to the next prompt, and leaves the ledger of the task as it is', async () => {
    const session = newSession('observed');
    const { client } = system;
    await publishWire(client, 'implementer', session, implemented('1'));
    const seen = { task_id: '1', summary: 'The pool is shared by all requests', facts: FACTS };
    const { sequence } = await publishWire(client, 'observer', session, seen);
    const request = { session, taskId: '2', taskPrompt: 'Change the pool in src/db.ts', after: sequence };
    const { prompt } = await client.compile(request);
    expect(prompt).toContain('- src/db.ts uses one pool for all requests');
    expect(prompt).toContain('- The pool is shared by all requests');
    const { tasks } = await client.runStatus(session);
    expect(tasks).toEqual([
      expect.objectContaining({ task: '1', dispatches: 1, last_outcome: 'implementer_completed' }),
    ]);
    const { counts } = (await freshState(system, session)).dispatches.current();
    expect(counts).toEqual({ implementer: 1, reviewer: 0, observer: 1, rejected: 0 });
  });
});
