import { describe, expect, it } from 'vitest';
import { type CompileRequestInput, compileRequest } from '../../../src/contracts/compile-request.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { token } from '../../../src/contracts/names.js';
import { PROJECT_FOLDING } from '../../../src/engine/folding/session-folding.js';
import { StateReader } from '../../../src/engine/folding/state-reader.js';
import { relevantLearnings } from '../../../src/memory/learnings/relevant-learnings.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import type { Relevance } from '../../../src/services/common/process-parts.js';
import { createPromptLearnings } from '../../../src/services/compiler/prompt-learnings.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { accepted, eventAt, proposed } from '../../support/learning-project.js';
import { loggedWarnings } from '../../support/logged.js';

const TASK = { session: 's', taskId: '1' };
const TEXTS = [
  'Parsers need a test for empty input',
  'Test a parser with long input',
  'Commit small steps',
  'A parser reads bytes',
  'Errors of a parser name the line',
  'Parser tables are generated',
  'Name each parser after its format',
];

/** Returns learnings of the default project with these texts, and a query for them. */
async function withLearnings(texts: readonly string[] = TEXTS, unaskedMs = 10_000) {
  const log = new MemoryLearningLog();
  const project = token('default', 'project');
  for (const [at, text] of texts.entries()) {
    await log.append(project, eventAt(2 * at, proposed(text)));
    await log.append(project, eventAt(2 * at + 1, accepted(text)));
  }
  const { logger, warnings } = loggedWarnings();
  const snapshots = new MemorySnapshotStore();
  const reader = new StateReader({ log, snapshots, folding: PROJECT_FOLDING, logger, maxCached: 10 });
  const relevance: Relevance = async (...search) => relevantLearnings(undefined, ...search);
  const find = createPromptLearnings({ reader, relevance, logger, unaskedMs });
  const ask = (request: CompileRequestInput, state = emptyState('s')) =>
    find(state, compileRequest.parse(request));
  return { log, ask, warnings };
}

const textsOf = ({ learnings }: Awaited<ReturnType<Awaited<ReturnType<typeof withLearnings>>['ask']>>) =>
  learnings?.ranked.map(({ learning }) => learning.content);

describe('the learnings of a prompt', () => {
  it.each([
    ['a dispatch', { ...TASK, taskPrompt: 'the parser' }, 3],
    ['an iteration', { kind: 'iteration', session: 's', taskPrompt: 'the parser' }, 5],
    ['a session start', { kind: 'session-start', session: 's', taskPrompt: 'the parser' }, 5],
  ] as const)('%s shows the learnings that fit by default, up to its number', async (_, request, most) => {
    const { ask } = await withLearnings();
    const { learnings } = await ask(request);
    expect(learnings).toMatchObject({ method: 'lexical', total: 7 });
    expect(learnings?.ranked).toHaveLength(most);
    expect((await ask({ ...request, maxLearnings: 1 })).learnings?.ranked).toHaveLength(1);
  });

  it.each([
    ['a dispatch', { ...TASK, taskPrompt: 'use another zeppelin' }, 0],
    ['an iteration', { kind: 'iteration', session: 's', taskPrompt: 'use another zeppelin' }, 0],
    ['an iteration that knows of no task', { kind: 'iteration', session: 's' }, 0],
    ['a session start', { kind: 'session-start', session: 's' }, 5],
  ] as const)(
    '%s shows no learning that does not fit, but for the newest at a start',
    async (_, request, shown) => {
      const { ask } = await withLearnings();
      for (const maxLearnings of [undefined, 5]) {
        const { learnings } = await ask({ ...request, maxLearnings });
        expect(learnings).toMatchObject({ method: 'recency', total: 7 });
        expect(learnings?.ranked).toHaveLength(shown);
      }
    },
  );

  it('a prompt for no learnings reads none, nor does a template that does not show them', async () => {
    const { log, ask } = await withLearnings();
    log.read = () => Promise.reject(new Error('read'));
    const iteration = { kind: 'iteration', session: 's' } as const;
    expect(await ask({ ...TASK, taskPrompt: 'parser', maxLearnings: 0 })).toEqual({});
    expect(await ask({ ...iteration, maxLearnings: 0 })).toEqual({});
    expect(await ask({ ...iteration, template: 'Iteration {{iteration}}' })).toEqual({});
    expect(await ask({ ...iteration, template: '{{ learnings }}' })).toHaveProperty('learningsError');
  });

  it('each prompt reads the log of a project once, however many learnings there are', async () => {
    for (const texts of [[], TEXTS]) {
      const { log, ask } = await withLearnings(texts);
      const read = log.read.bind(log);
      let reads = 0;
      log.read = (...range) => {
        reads += 1;
        return read(...range);
      };
      for (const taskPrompt of ['parser', 'tables', 'input']) await ask({ ...TASK, taskPrompt });
      expect(reads).toBe(3);
    }
  });

  it('a prompt shows the learnings of the project that its session has now, not of the one that it had before', async () => {
    const { log, ask } = await withLearnings();
    const task = { ...TASK, taskPrompt: 'steps' };
    const empty = emptyState('s');
    const named = { ...empty, charter: { ...empty.charter, project: 'other' } };
    await log.append(token('other', 'project'), eventAt(0, proposed('Steps of another project')));
    await log.append(token('other', 'project'), eventAt(1, accepted('Steps of another project')));
    expect(textsOf(await ask(task))).toEqual(['Commit small steps']);
    expect(textsOf(await ask(task, named))).toEqual(['Steps of another project']);
    expect(textsOf(await ask({ ...task, project: 'default' }, named))).toEqual(['Commit small steps']);
    expect(textsOf(await ask(task, named))).toEqual(['Steps of another project']);
  });

  it('a prompt shows a learning that was accepted before it was asked for, as often as it is asked', async () => {
    const { log, ask } = await withLearnings();
    const project = token('default', 'project');
    for (const text of ['Zebras first', 'Zebras run']) {
      await ask({ ...TASK, taskPrompt: 'zebra' });
      await log.append(project, eventAt(50, proposed(text)));
      await log.append(project, eventAt(51, accepted(text)));
      expect(textsOf(await ask({ ...TASK, taskPrompt: 'zebra' }))).toContain(text);
    }
  });

  it.each([
    ['fails', () => Promise.reject(new ThroughlineError('unavailable', 'no store')), 'no store'],
    ['hangs', () => new Promise<never>(() => {}), 'reading the learnings timed out after 20 ms'],
  ])(
    'a prompt comes without learnings that it did not ask for when their log %s, and says so',
    async (_, read, message) => {
      const { log, ask, warnings } = await withLearnings(TEXTS, 20);
      log.read = read;
      const learningsError = { code: 'unavailable', message };
      expect(await ask({ ...TASK, taskPrompt: 'parser' })).toEqual({ learningsError });
      expect(await ask({ kind: 'iteration', session: 's' })).toEqual({ learningsError });
      expect(warnings).toMatchObject([{ message: 'prompt compiled without learnings' }]);
    },
  );

  it.each<Partial<CompileRequestInput>>([
    { maxLearnings: 3 },
    { minSimilarity: 0.5 },
    { project: 'other' },
    { learningsAsOf: 1 },
    { kind: 'session-start' },
  ])('a prompt that asks for learnings with %j fails when their log fails', async (asked) => {
    const { log, ask } = await withLearnings();
    log.read = () => Promise.reject(new ThroughlineError('unavailable', 'no store'));
    await expect(ask({ ...TASK, taskPrompt: 'parser', ...asked })).rejects.toThrow('no store');
  });
});
