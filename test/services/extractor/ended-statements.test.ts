import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../../src/contracts/compile-request.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { Token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { timelineEntry } from '../../../src/memory/session/timeline-entry.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { createSessionQueries } from '../../../src/services/tools/session-queries.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, observer, recorded, timeOf } from '../../support/builders.js';
import { StatedSession } from '../../support/stated.js';

const PERSON = { by: 'ann', person: true } as const;
const USER = { origin: 'user' } as const;

function commandsOn(stated: StatedSession) {
  const { log } = stated;
  const reader = createSessionReader({
    log,
    snapshots: new MemorySnapshotStore(),
    logger: silentLogger,
    maxCached: 9,
  });
  const clock = () => timeOf(500);
  const command = createCommander({ log, reader, clock, newId: randomUUID, random: () => 0 });
  const rest = { snapshots: {} as never, prompts: {} as never, projects: {} as never };
  const queries = createSessionQueries({ reader, command, ...rest });
  const session = 'demo' as Token;
  return {
    retract: (id: string) => queries['tool.fact-retract']({ session, id, ...PERSON }),
    correct: (id: string, text: string) => queries['tool.fact-correct']({ session, id, text, ...PERSON }),
    restore: (id: string) => queries['tool.fact-restore']({ session, id, ...PERSON }),
    restoreAsAgent: (id: string) => queries['tool.fact-restore']({ session, id, by: 'claude' }),
  };
}

async function logged(session: StatedSession): Promise<string> {
  const last = (await session.events()).at(-1);
  return last === undefined ? '' : timelineEntry(last).summary;
}

describe('a statement that another one names', () => {
  it('is replaced by the line of a turn, and by a fact of a result', async () => {
    const session = new StatedSession();
    await session.says('Use moment');
    await session.says('Use dayjs', { replaces: ['M1'] });
    await session.result(
      implementer({
        facts: [{ subject: 'dates', relation: 'decided', object: 'Use Temporal', replaces: ['m2'] }],
      }),
    );
    expect(await session.holds()).toEqual(['M3 Use Temporal']);
    expect(await session.ended()).toEqual(['M1 replaced by M2', 'M2 replaced by M3']);
    expect(await logged(session)).toBe('added the store [M2 replaced by M3]');
  });

  it('an open question is answered: the answer holds with its question', async () => {
    const session = new StatedSession();
    await session.says('Should expired links give 404 or 410?', { relation: 'asks' });
    await session.says('410', { relation: 'settled', replaces: ['M1'] });
    expect(await session.holds()).toEqual(['M2 Should expired links give 404 or 410? 410']);
    expect((await session.facts()).at(-1)).toMatchObject({ relation: 'decided' });
  });

  it('the next turn answers the question of its conversation, and leaves any other open', async () => {
    const session = new StatedSession();
    await session.says('Should expired links give 404 or 410?', { relation: 'asks' });
    await session.says('Which port does the gateway use?', { relation: 'asks' });
    await session.says('Should expired links give 404 or 410? The user: "410"', USER);
    expect(await session.ended()).toEqual(['M1 answered by M3']);
  });

  it('what was left to do is settled, and what settled it is shown nowhere', async () => {
    const session = new StatedSession();
    await session.result(implementer({ follow_up_actions: ['Document the port', 'Close the socket'] }));
    await session.says('the README names it', { relation: 'settled', replaces: ['M1'] });
    expect(await session.holds()).toEqual(['M1.2 Close the socket', 'M2 the README names it']);
    expect(await session.ended()).toEqual(['M1 settled by M2']);
  });

  it.each([
    ['that no statement has', 'M99', 'M99 is not a statement of this session: nothing ended'],
    ['of what has ended', 'M1', 'M1 has ended before: nothing ended'],
    ['of the user, by an agent', 'M3', 'M3 is the word of someone of higher rank: nothing ended'],
    ['that the agent was not shown', { not_shown: ['M2'] }, 'M2 was not shown to the agent: nothing ended'],
  ])('an id %s ends nothing, the line is new, and the log says so', async (_, named, said) => {
    const session = new StatedSession();
    await session.says('Use moment');
    await session.says('Use luxon', { replaces: ['M1'] });
    await session.says('Never touch legacy/', { relation: 'rule', ...USER });
    await session.says('Use dayjs', typeof named === 'string' ? { replaces: [named] } : named);
    expect(await session.holds()).toEqual(['M2 Use luxon', 'M3 Never touch legacy/', 'M4 Use dayjs']);
    expect(await logged(session)).toContain(`[${said}]`);
  });

  it.each([{ replaces: ['M99'] }, { not_shown: ['M1'] }])(
    'settles nothing, and is only logged: %j',
    async (vain) => {
      const session = new StatedSession();
      const gone = { subject: 'task:1', relation: 'settled', object: 'gone', ...vain };
      const facts = [{ subject: 'dates', relation: 'decided', object: 'Use dayjs' }, gone];
      await session.result(observer({ summary: 'x'.repeat(400), facts }));
      expect(await session.holds()).toEqual(['M1 Use dayjs']);
      expect(await logged(session)).toMatch(/x\.\.\. \[M\d+ .*: nothing ended\] \[kept: M1/);
    },
  );

  it('the log says how many labelled lines were cut or left out', () => {
    const event = recorded(1, observer({ summary: 'Done' }));
    const data = { ...event.data, repairs: [{ kind: 'lines', field: 'the body', detail: '2' }] };
    expect(timelineEntry({ sequence: 1, event: { ...event, data } }).summary).toBe(
      'Done [2 lines cut or left out]',
    );
  });

  it('a question ends with its branch, and one that is asked on a new branch of the name stays', async () => {
    const session = new StatedSession();
    const asks = (branch: string, object: string) =>
      session.result(
        observer({
          task_id: `claude-${branch}`,
          branch,
          facts: [{ subject: `task:claude-${branch}`, relation: 'asks', object }],
        }),
      );
    await asks('feat-x', 'Which port?');
    await asks('feat-y', 'Which host?');
    await session.says('merged', { subject: 'branch:feat-x', relation: 'branch_ended' });
    expect((await session.holds()).slice(0, 1)).toEqual(['M2 Which host?']);
    expect(await session.ended()).toEqual(['M1 settled by feat-x, merged']);
    await asks('feat-x', 'Which path?');
    expect(await session.holds()).toContain('M4 Which path?');
  });

  it('by subject, an agent does not replace what the user said about it', async () => {
    const session = new StatedSession();
    const port = (object: string, more: object = {}) => session.says(object, { subject: 'gateway', ...more });
    await port('port 3000');
    await port('port 9464', USER);
    await port('port 8080');
    expect(await session.holds()).toEqual(['M2 port 9464', 'M3 port 8080']);
    await port('port 80', USER);
    expect(await session.holds()).toEqual(['M4 port 80']);
  });

  it('the log says of a turn what was kept, and the next start names it', async () => {
    const session = new StatedSession();
    await session.says('Use dayjs', { ...USER });
    expect(await logged(session)).toContain('[kept: M1 Decided: Use dayjs]');
    const { prompt } = compilePrompt(
      await session.state(),
      compileRequest.parse({ kind: 'session-start', session: 'demo' }),
      undefined,
    );
    expect(prompt).toContain('Kept of the last turn: M1 Decided');
  });

  it('what holds is said again: nothing changes, and what is new in that result does not end it', async () => {
    const session = new StatedSession();
    await session.says('Use dayjs', USER);
    await session.says('Use dayjs.');
    const decided = (object: string) => ({ subject: 'dates', relation: 'decided', object });
    await session.result(implementer({ facts: [decided('ISO 8601')] }));
    await session.result(implementer({ facts: [decided('ISO 8601'), decided('in UTC')] }));
    expect(await session.holds()).toEqual(['M1 Use dayjs', 'M3 ISO 8601', 'M4.2 in UTC']);
    await session.says('Use luxon', { ...USER, replaces: ['M1'] });
    await session.says('Use dayjs', USER);
    expect(await session.holds()).toEqual(['M3 ISO 8601', 'M4.2 in UTC', 'M5 Use luxon', 'M6 Use dayjs']);
  });

  it('two results in flight: the later one knows the earlier', async () => {
    const session = new StatedSession();
    await session.says('Use npm');
    await Promise.all([
      session.says('Use pnpm', { replaces: ['M1'] }),
      session.says('Use yarn', { replaces: ['M2'] }),
    ]);
    expect(await session.holds()).toEqual(['M3 Use yarn']);
  });
});

describe('what a person does to a statement', () => {
  it('retracts it by its id, for good, and restores it', async () => {
    const session = new StatedSession();
    const { retract, restore } = commandsOn(session);
    await session.says('Use moment');
    await retract('m1');
    await session.says('Use moment');
    expect(await session.holds()).toEqual([]);
    await restore('M1');
    expect(await session.holds()).toEqual(['M1 Use moment']);
    expect(await session.ended()).toEqual([]);
  });

  it('corrects it: the new one has its own id and the rank of a person; correcting back restores', async () => {
    const session = new StatedSession();
    const { correct, retract } = commandsOn(session);
    await session.says('port 3000', { subject: 'gateway', ...USER, by: 'ben' });
    const { fact, corrected } = await correct('M1', 'port 9464');
    expect(fact).toMatchObject({ ref: 'M1v2', origin: 'person', object: 'port 9464' });
    expect(corrected).toMatchObject({ by: 'ben', retracted: { by: 'ann', instead: 'M1v2' } });
    await expect(retract('M1')).rejects.toThrow('M1 was corrected before: retract M1v2, which replaced it');
    await session.says('port 8080', { subject: 'gateway', ...USER });
    expect(await session.holds()).toEqual(['M1v2 port 9464', 'M2 port 8080']);
    await session.says('port 9000', { replaces: ['M1v2'] });
    expect(await logged(session)).toContain('M1v2 is the word of someone of higher rank');
    const back = await correct('M1v2', 'port 3000');
    expect(back).toMatchObject({ fact: { ref: 'M1' }, corrected: { retracted: { instead: 'M1' } } });
    expect(await session.holds()).toEqual(['M1 port 3000', 'M2 port 8080', 'M3 port 9000']);
  });

  it('corrects an answer, whose question stays; restoring it ends the correction', async () => {
    const session = new StatedSession();
    const { correct, restore } = commandsOn(session);
    const data = { ref: 'N1', task: '1', questions: ['Which port?'], answer: '80', by: 'ann' };
    await session.log.append('demo' as Token, {
      v: EVENT_VERSION,
      type: 'question.answered',
      at: timeOf(1),
      data,
    });
    await correct('N1', '81');
    expect(await session.holds()).toEqual(['N1v2 Which port? 81']);
    expect((await session.facts()).at(-1)?.answer).toMatchObject({
      questions: ['Which port?'],
      answer: '81',
    });
    await restore('N1');
    expect(await session.holds()).toEqual(['N1 Which port? 80']);
    expect(await session.ended()).toEqual(['N1v2 replaced by N1']);
  });

  it('restores what was replaced: both hold, until something newer ends it', async () => {
    const session = new StatedSession();
    const { restore } = commandsOn(session);
    await session.says('Use moment');
    await session.says('Use dayjs', { replaces: ['M1'] });
    await restore('M1');
    expect(await session.holds()).toEqual(['M1 Use moment', 'M2 Use dayjs']);
    await session.says('Use luxon', { replaces: ['M1', 'M2'] });
    expect(await session.holds()).toEqual(['M3 Use luxon']);
  });
});

describe('an answer that another one replaced', () => {
  it('ends that one when it is restored, and an agent takes no answer of a person away', async () => {
    const session = new StatedSession();
    const answered = (ref: string, answer: string, agent?: true) =>
      session.log.append('demo' as Token, {
        v: EVENT_VERSION,
        type: 'question.answered',
        at: timeOf(1),
        data: { ref, task: '1', questions: ['Tabs?'], answer, by: 'ann', ...(agent && { agent }) },
      });
    await answered('N1', 'Yes', true);
    await answered('N2', 'No');
    await answered('N3', 'Both');
    const { restore, restoreAsAgent } = commandsOn(session);
    await expect(restoreAsAgent('N1')).rejects.toMatchObject({ code: 'conflict' });
    await restore('N1');
    expect(await session.holds()).toEqual(['N1 Tabs? Yes']);
    await restore('N3');
    expect(await session.holds()).toEqual(['N3 Tabs? Both']);
    expect(await session.ended()).toEqual(['N1 replaced by N3', 'N2 replaced by N3']);
    await answered('N4', 'None');
    expect(await session.holds()).toEqual(['N4 Tabs? None']);
  });
});

describe('a statement that a newer one denies', () => {
  it('ends, and prompts show what it replaced', async () => {
    const session = new StatedSession();
    const fact = { subject: 'task:a', relation: 'decided', object: 'PostgreSQL through Drizzle' };
    await session.result(observer({ task_id: 'a', summary: 'Tables are made', facts: [fact] }));
    await session.says('No Drizzle: plain SQL through pg');
    expect(await session.ended()).toEqual(['M1 replaced by M2']);
    expect(await logged(session)).toContain('[M1 replaced by M2 (Drizzle)]');
    const request = compileRequest.parse({ kind: 'session-start', session: 'demo' });
    const { prompt } = compilePrompt(await session.state(), request);
    expect(prompt).toContain(
      'Decided: No Drizzle: plain SQL through pg (replaces: PostgreSQL through Drizzle) [M2, 1 Jan]',
    );
    expect(prompt).toContain('Before: Tables are made (M2 replaces a part)');
  });

  it('ends by a request of the user, which holds then; a request that ends nothing is not kept', async () => {
    const session = new StatedSession();
    const requests = { relation: 'requested', ...USER } as const;
    await session.says('Jobs wait in Redis', USER);
    await session.says('drop Mongo from the import', requests);
    await session.says('no, not Redis. Keep jobs in a table', requests);
    expect(await session.holds()).toEqual(['M3 no, not Redis. Keep jobs in a table']);
    expect(await session.ended()).toEqual(['M1 replaced by M3']);
  });

  it('stays if a person or the user said it, and an agent denies it', async () => {
    const session = new StatedSession();
    await session.says('Use Jest', USER);
    await session.says('Use Vitest instead of Jest');
    expect(await session.holds()).toEqual(['M1 Use Jest', 'M2 Use Vitest instead of Jest']);
    await session.says('Use Vitest instead of Jest', USER);
    expect(await session.ended()).toEqual(['M1 replaced by M3']);
  });

  it('stays if it is newer, or no decision and no rule', async () => {
    const session = new StatedSession();
    await session.says('Use Jest', { relation: 'found' });
    await session.result(
      observer({ task_id: 'a', facts: [{ subject: 'task:a', relation: 'decided', object: 'Use Jest' }] }),
      9,
    );
    await session.result(
      observer({ task_id: 'b', facts: [{ subject: 'task:b', relation: 'decided', object: 'No Jest' }] }),
      5,
    );
    expect(await session.ended()).toEqual([]);
  });

  it('stays if too many speak of it', async () => {
    const session = new StatedSession();
    for (const use of ['unit', 'e2e', 'smoke', 'load']) await session.says(`Use Jest for the ${use} tests`);
    await session.says('No Jest');
    expect(await session.ended()).toEqual([]);
  });
});
