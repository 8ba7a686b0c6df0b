import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { historiesIn } from '../../scripts/eval/replay.mjs';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { ROLES } from '../../src/contracts/kinds.js';
import { SESSION_EVENTS, type StoredEvent } from '../../src/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../src/memory/facts/fact-extractor.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import { implementer } from '../support/builders.js';

/**
 * SHA-256 of prompts of each kind from fixed logs. Where wording is changed on purpose, the file is written again by
 * `npx vitest run --project unit test/prompt/frozen-prompts.test.ts --update`; a change to anything else must not touch it.
 */
const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
const RULES = new RuleBasedFactExtractor();

function sessionLog(name: string): StoredEvent[] {
  const lines = readFileSync(`${FIXTURES}/sessions/${name}/events.jsonl`, 'utf8').trimEnd().split('\n');
  return lines.flatMap((line, index) => {
    const event = SESSION_EVENTS.parse(JSON.parse(line));
    return event === undefined ? [] : { sequence: index + 1, event };
  });
}

const LOGS: Readonly<Record<string, readonly StoredEvent[]>> = {
  session: sessionLog('0.1.0'),
  ...Object.fromEntries(
    historiesIn(fileURLToPath(new URL('../../scripts/eval/history', import.meta.url)))
      .filter(({ name }) => name === 'hono')
      .map(({ name, commits }) => [
        name,
        commits.map(({ sha, subject, files }, index): StoredEvent => {
          const at = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
          const result = implementer({ task_id: sha, summary: subject, files_modified: [...files] });
          return { sequence: index + 1, event: recordedEvent({ sequence: index + 1, at }, result, RULES) };
        }),
      ]),
  ),
};

const SAID = 'Fix the router so that cookies are parsed, with tests and docs';
const REQUESTS = [
  ...['1', 'unknown'].flatMap((taskId) =>
    ROLES.flatMap((role) => [
      { taskId, role, taskPrompt: SAID },
      { taskId, role, taskPrompt: 'Change src/store.ts', budget: { inputTokens: 1500 }, maxFiles: 3 },
    ]),
  ),
  { taskId: '2', taskPrompt: SAID, maxFacts: 5, explain: true },
  { kind: 'iteration' },
  { kind: 'iteration', taskPrompt: SAID, budget: { inputTokens: 1500 } },
  { kind: 'session-start' },
  { kind: 'session-start', taskPrompt: SAID, budget: { inputTokens: 1500 } },
];

function frozen(state: SessionState, request: object): string {
  const { prompt } = compilePrompt(state, compileRequest.parse({ session: 'frozen', ...request }));
  return createHash('sha256').update(prompt).digest('hex');
}

it.each(Object.entries(LOGS))(
  'prompts from the log %s are the same bytes as when they were frozen',
  async (name, events) => {
    const state = emptyState('frozen');
    const cuts = [0.6, 1].map((part) => Math.round(events.length * part));
    const lines = events.flatMap((stored, index) => {
      evolve(state, stored);
      if (!cuts.includes(index + 1)) return [];
      return REQUESTS.map((request) => `${index + 1} ${JSON.stringify(request)} ${frozen(state, request)}`);
    });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`${FIXTURES}/prompts/${name}.txt`);
  },
);
