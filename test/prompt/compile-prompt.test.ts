import { describe, expect, it } from 'vitest';
import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import { ROLES, stablePrefix } from '../../src/contracts/kinds.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { createFactId } from '../../src/memory/facts/fact-types.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import {
  hostileTexts,
  implementer,
  observer,
  recorded,
  reviewer,
  roleResults,
  stored,
} from '../support/builders.js';
import { inPrompt, ranked } from '../support/learnings.js';
import * as fc from '../support/properties.js';
import { explained } from './parts.js';

function request(overrides: Partial<CompileRequestInput> = {}) {
  return explained({
    session: 'demo',
    taskId: '9',
    taskPrompt: 'Change src/store.ts',
    ...overrides,
  } as CompileRequestInput);
}

function stateAfter(...events: readonly SessionEvent[]): SessionState {
  return stored(events).reduce(evolve, emptyState('demo'));
}

const KNOWING = stateAfter(
  recorded(3, implementer({ task_id: '1', files_modified: ['src/store.ts', 'src/log.ts'] })),
  recorded(5, reviewer({ task_id: '1', required_fixes: ['check the bounds'] })),
);

function linesOf(sessionContext: string): string[] {
  return sessionContext.split('\n').filter((line) => line.startsWith('- '));
}

describe('the first task of a session', () => {
  it.each(ROLES)('a first task of a session has no context header at all: %s', (role) => {
    const compiled = compilePrompt(emptyState('demo'), request({ role }));
    expect(compiled).toMatchObject({ sessionContext: '', facts: [], factsShown: 0, factsTotal: 0 });
    expect(compiled.prompt.startsWith(`${stablePrefix(role)}\n\nTask 9\n`)).toBe(true);
    expect(compiled.prompt.endsWith('\n\nTask prompt:\nChange src/store.ts')).toBe(true);
    expect(compiled.tokenEstimate).toBe(Math.ceil(compiled.prompt.length / 4));
    expect(compiled.prompt).not.toMatch(/^\[Session Context\]/m);
  });
});

describe('a prompt', () => {
  it('a prompt is the stable prefix, the session context and the task, in this order', () => {
    const { prompt, sessionContext } = compilePrompt(KNOWING, request());
    expect(sessionContext.split('\n')).toEqual([
      '[Session Context]',
      'Open findings of other tasks, not yours unless you touch their files:',
      '- required fix: check the bounds [task:1, 1 Jan]',
      'Likely files:',
      '- src/store.ts (the task names it)',
      'Related work:',
      '- added the store | Sent back by its review | Files: src/store.ts, src/log.ts [task:1, 1 Jan]',
    ]);
    expect(prompt.startsWith(`${stablePrefix('implementer')}\n\nTask 9\n`)).toBe(true);
    expect(prompt.endsWith(`\n\n${sessionContext}\n\nTask prompt:\nChange src/store.ts`)).toBe(true);
  });

  it('a prompt begins with the same bytes for a role, whatever the task and the session', () => {
    fc.assert(
      fc.property(
        fc.array(roleResults, { maxLength: 5 }),
        hostileTexts,
        fc.constantFrom(...ROLES),
        (results, text, role) => {
          const state = stateAfter(...results.map((returned, index) => recorded(index + 1, returned)));
          const { prompt } = compilePrompt(state, request({ role, taskPrompt: `do ${text}`, taskId: 'x' }));
          expect(prompt.startsWith(`${stablePrefix(role)}\n\n`)).toBe(true);
          expect(prompt.endsWith(`\n\nTask prompt:\ndo ${text}`)).toBe(true);
        },
      ),
    );
  });
});

describe('the facts of a prompt', () => {
  it('the facts of a prompt are the ones asked for by tag', () => {
    const { facts } = compilePrompt(KNOWING, request({ tags: ['convention'] }));
    expect(facts).toMatchObject([
      { subject: 'task:1', relation: 'must_fix', object: 'check the bounds', task: '1' },
    ]);
  });

  it('the facts of a prompt stay within both limits, and stand in the prompt line by line', () => {
    fc.assert(
      fc.property(
        fc.array(roleResults, { maxLength: 10 }),
        fc.nat(8),
        fc.nat(80),
        (results, maxFacts, maxTokens) => {
          const state = stateAfter(...results.map((returned, index) => recorded(index + 1, returned)));
          const compiled = compilePrompt(state, request({ maxFacts, maxTokens, maxFiles: 0 }));
          expect(compiled.factsShown).toBe(compiled.facts.length);
          expect(compiled.factsShown).toBeLessThanOrEqual(Math.min(maxFacts, compiled.factsTotal));
          expect(compiled.prompt).toContain(compiled.sessionContext);
          const lines = linesOf(compiled.sessionContext);
          expect(lines).toHaveLength(compiled.factsShown);
          const tokens = lines.reduce((sum, line) => sum + Math.ceil(line.length / 4), 0);
          expect(tokens).toBeLessThanOrEqual(maxTokens);
          expect(compiled.tokenEstimate).toBe(Math.ceil(compiled.prompt.length / 4));
        },
      ),
    );
  });

  it('the facts of a prompt say where each comes from and how well it fits', () => {
    const facts = compilePrompt(KNOWING, request()).facts;
    const [first, second] = facts;
    expect(first).toEqual({
      subject: 'task:1',
      relation: 'must_fix',
      object: 'check the bounds',
      task: '1',
      id: createFactId('task:1', 'must_fix', 'check the bounds'),
      dispatch: 5,
      eventSequence: 2,
      score: 0.5,
      tokens: 8,
    });
    expect(second).toMatchObject({ relation: 'summary', dispatch: 3, eventSequence: 1 });
  });
});

describe('the reply with a prompt', () => {
  const PARTS = ['facts', 'files', 'sessionContext', 'considered', 'lines', 'messages'] as const;
  const asked = { session: 'demo', taskId: '9', taskPrompt: 'Change src/store.ts' };

  it('the reply has the parts that the request includes, and no other', () => {
    const plain = compilePrompt(KNOWING, compileRequest.parse(asked));
    for (const part of PARTS) expect(plain).not.toHaveProperty(part);
    const whole = compilePrompt(KNOWING, request());
    for (const part of PARTS) {
      const one = compilePrompt(KNOWING, compileRequest.parse({ ...asked, include: [part] }));
      expect(one).toEqual({ ...plain, [part]: whole[part as 'facts'] });
    }
    expect(whole).toEqual({
      ...plain,
      ...Object.fromEntries(PARTS.map((part) => [part, whole[part as 'facts']])),
    });
  });

  it('a reply lists the learnings shown if the request includes them, and always counts them', () => {
    const learnings = inPrompt({
      ranked: [ranked(0.9, { content: 'Check the bounds of the store' })],
      total: 3,
    });
    for (const own of [
      asked,
      { kind: 'iteration', session: 'demo' },
      { kind: 'session-start', session: 'demo' },
    ]) {
      const compiled = (include: 'learnings'[]) =>
        compilePrompt(KNOWING, compileRequest.parse({ ...own, include }), undefined, learnings);
      const plain = compiled([]);
      expect(plain).toMatchObject({ learningsShown: 1, learningsTotal: 3 });
      expect(plain).not.toHaveProperty('learnings');
      expect(plain.chosen.learnings).toHaveLength(1);
      const listed = [{ id: plain.chosen.learnings[0], content: 'Check the bounds of the store' }];
      expect(compiled(['learnings'])).toMatchObject({ ...plain, learnings: listed });
    }
  });

  it('a prompt of messages is only asked for in the prompt of a task', () => {
    const parsed = compileRequest.safeParse({ kind: 'iteration', session: 'demo', include: ['messages'] });
    expect(parsed.error?.issues[0]?.path).toEqual(['include', 0]);
  });
});

describe('the lines of a prompt', () => {
  it('the lines of a prompt say what each comes from', () => {
    const { prompt, lines } = compilePrompt(KNOWING, request());
    const written = prompt.split('\n');
    const told = lines.map(({ from, section, ...origin }) => [written[from - 1], section, origin]);
    expect(told).toContainEqual([
      '- required fix: check the bounds [task:1, 1 Jan]',
      'findings',
      {
        to: expect.any(Number),
        fact: createFactId('task:1', 'must_fix', 'check the bounds'),
        task: '1',
        dispatch: 5,
        eventSequence: 2,
        why: expect.any(String),
      },
    ]);
    const why = 'the task names it';
    const file = { to: expect.any(Number), file: 'src/store.ts', task: '1', why };
    expect(told).toContainEqual(['- src/store.ts (the task names it)', 'files', file]);
    expect(told).toContainEqual(['Task 9', 'head', { to: expect.any(Number), task: '9' }]);
    expect(told.at(-1)?.slice(0, 2)).toEqual(['Task prompt:', 'task']);
  });

  it('the lines of a prompt are told in their order, each once, with every fact and file that is shown', () => {
    const kinds = fc.constantFrom('dispatch', 'iteration', 'session-start');
    const results = fc.array(roleResults, { maxLength: 10 });
    fc.assert(
      fc.property(
        results,
        kinds,
        hostileTexts,
        fc.integer({ min: 2000, max: 9000 }),
        (some, kind, text, room) => {
          const state = stateAfter(...some.map((returned, index) => recorded(index + 1, returned)));
          const budget = { inputTokens: room };
          const asked = { taskPrompt: `do ${text}`, budget };
          const whole = kind === 'dispatch' ? request(asked) : explained({ kind, session: 'demo', ...asked });
          const { budget: report, prompt, lines, facts, files } = compilePrompt(state, whole);
          expect(prompt).toBe(compilePrompt(state, { ...whole, explain: false }).prompt);
          expect(lines.flatMap(({ fact }) => fact ?? [])).toEqual(
            facts.map((fact) => createFactId(fact.subject, fact.relation, fact.object)),
          );
          expect(lines.flatMap(({ file }) => file ?? [])).toEqual(
            files
              .slice(0, report.sections.find(({ name }) => name === 'files')?.shown ?? 0)
              .map(({ path }) => path),
          );
          const written = prompt.split('\n');
          for (const { from, fact, task, section } of lines)
            if (fact !== undefined && ['findings', 'tests', 'requirements'].includes(section))
              expect(written[from - 1]).toMatch(new RegExp(`^- .* \\[task:${task}, 1 Jan\\]$`));
          for (const [at, { from, to }] of lines.entries()) {
            expect(from).toBeGreaterThan(lines[at - 1]?.to ?? 0);
            expect(to).toBeGreaterThanOrEqual(from);
          }
          expect(lines.at(-1)?.to ?? 0).toBeLessThanOrEqual(written.length);
        },
      ),
    );
  });

  it('the lines of an iteration prompt are found wherever its template puts them', () => {
    const template = '{{learnings}}\n{{sessionContext}}\n# {{goal}}\n{{tasks}}';
    const asked = { kind: 'iteration' as const, session: 'demo', taskPrompt: 'src/store.ts', template };
    const compiled = compilePrompt(KNOWING, explained(asked));
    const named = compiled.lines.map(({ from, section }) => [section, compiled.prompt.split('\n')[from - 1]]);
    expect(named[0]).toEqual(['notes', '[Session Context]']);
    expect(named.at(-1)).toEqual(['tasks', 'No tasks yet']);
    expect(named).toContainEqual(['files', '- src/store.ts (the task names it)']);
  });
});

describe('the likely files of a prompt', () => {
  const said = (task_id: string, summary: string, ...files_modified: string[]) =>
    implementer({ task_id, summary, files_modified });
  const LONG = stateAfter(
    recorded(1, said('1', 'parse cookies of a request', 'src/cookie.ts', 'test/cookie.test.ts')),
    recorded(2, said('2', 'route by path', './src/router.ts')),
    recorded(
      3,
      reviewer({
        task_id: '2',
        issues: [{ severity: 'minor', file: 'docs/router.md', message: 'say how wildcards match' }],
      }),
    ),
    ...Array.from({ length: 700 }, (_, n) =>
      recorded(n + 4, said(`x${n}`, `tune part ${n}`, `bench/part${n}.ts`)),
    ),
  );
  const files = (taskPrompt: string, more: Partial<CompileRequestInput> = {}) =>
    compilePrompt(LONG, request({ taskPrompt, ...more })).files;

  it('a file that a similar result touched is found long after its facts are gone', () => {
    const [one, other] = files('Cookies without a value are not parsed');
    expect([one?.path, other?.path].sort()).toEqual(['src/cookie.ts', 'test/cookie.test.ts']);
    expect(one).toMatchObject({ uses: 1, tasks: ['1'] });
    expect(one?.score).toBeGreaterThan(other?.score ?? 1);
  });

  it('a file that a review names is found by what the review says of it', () => {
    expect(files('wildcards of the matcher')[0]).toMatchObject({ path: 'docs/router.md', tasks: ['2'] });
  });

  it('a reply holds the files that its prompt shows, as many as asked for', () => {
    const compiled = compilePrompt(LONG, request({ taskPrompt: 'router cookie', maxFiles: 2 }));
    expect(compiled.files).toHaveLength(2);
    for (const { path } of compiled.files) expect(compiled.prompt).toContain(path);
    expect(files('router cookie', { maxFiles: 0 })).toEqual([]);
  });

  it('offers no file that does not exist where the agent works, and a line that names one says so', () => {
    const state = stateAfter(
      recorded(1, said('1', 'parse cookies', 'src/cookie.ts', 'test/cookie.test.ts')),
      recorded(
        2,
        observer({ facts: [{ subject: 'lock', relation: 'found', object: 'src/cookie.ts holds it' }] }),
      ),
    );
    const hints = { missing: ['src/cookie.ts'] };
    const asked = request({ taskPrompt: 'cookies hold the lock', hints });
    const start = compileRequest.parse({ kind: 'session-start', session: 'demo', hints });
    const about = ({ prompt }: { readonly prompt: string }) => prompt.match(/.*src.cookie.ts.*/g);
    expect(about(compilePrompt(state, start))).toEqual(['Found: src/cookie.ts holds it']);
    const [line, ...others] = about(compilePrompt(state, asked)) ?? [];
    expect(line).toMatch(/, not found here: src.cookie.ts\]$/);
    expect(others).toEqual([]);
    const renamed = stateAfter(
      recorded(1, observer({ summary: 'Move it: renamed src/cookie.ts to src/jar.ts' })),
    );
    expect(about(compilePrompt(renamed, start))?.join()).not.toContain('not found here');
  });

  it('work on other files shows how the same was done elsewhere, and a bump how the next one is made', () => {
    const state = stateAfter(
      recorded(1, said('1', 'remove simple-get from the body-limit tests', 'test/body.ts')),
      recorded(2, said('2', 'Bump chardet from 5.0.0 to 5.1.0', 'requirements.txt')),
      ...[3, 4, 5].map((n) => recorded(n, said(`${n}`, `trust the proxy, part ${n}`, 'test/proxy.ts'))),
    );
    const about = (taskPrompt: string) => compilePrompt(state, request({ taskPrompt })).prompt;
    expect(about('remove simple-get from the proxy tests')).toContain('from the body-limit tests');
    expect(about('Bump chardet from 5.1.0 to 5.2.0')).toContain('Bump chardet from 5.0.0');
    expect(about('trust the proxy of chardet')).not.toContain('Bump chardet from 5.0.0');
  });

  it('the likely files that are worth least go first where the prompt has no room', () => {
    const about = { taskPrompt: 'route src/router.ts and src/cookie.ts, parse cookies of a request by path' };
    const room = (inputTokens: number) => compilePrompt(LONG, request({ ...about, budget: { inputTokens } }));
    const whole = room(4000);
    const tight = room(whole.tokenEstimate - 1);
    expect(whole.files.length).toBeGreaterThan(1);
    expect(tight.files).toEqual(whole.files.slice(0, tight.files.length));
    expect(tight.tokenEstimate).toBeLessThan(whole.tokenEstimate);
  });

  it('an iteration and a session start show the files of what is ahead', () => {
    const kinds = ['iteration', 'session-start'] as const;
    for (const kind of kinds) {
      const asked = explained({ kind, session: 'demo', taskPrompt: 'wildcards of the matcher' });
      const { prompt, files } = compilePrompt(LONG, asked);
      expect(files[0]?.path).toBe('docs/router.md');
      expect(prompt).toContain('docs/router.md');
    }
  });
});
