import { expect, it } from 'vitest';
import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import { ROLES } from '../../src/contracts/kinds.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, roleResults, stored } from '../support/builders.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import * as fc from '../support/properties.js';
import { restored } from '../support/snapshots.js';

const AT = '2026-02-01T00:00:00Z';

const words = fc.constantFrom(
  'parse',
  'cookies',
  'of the router',
  'src/a.ts',
  '検索',
  'retry backoff',
  'close',
);
const said = fc.array(words, { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));
const results = fc.oneof(
  roleResults,
  fc
    .record({ task: fc.constantFrom('1', '2', '3'), said })
    .map(({ task, said: summary }) =>
      implementer({ task_id: task, summary, files_modified: [`src/${summary.length % 7}.ts`] }),
    ),
);
const asked = {
  maxFacts: fc.nat(12),
  maxFiles: fc.nat(12),
  explain: fc.boolean(),
  hints: fc.constantFrom<CompileRequestInput['hints']>(undefined, {
    missing: ['src/4.ts'],
  }),
  budget: fc.constantFrom(undefined, { inputTokens: 1200 }, { inputTokens: 5000 }),
  taskPrompt: said,
};
const { explain: _, maxFacts: __, ...atStart } = asked;
const requests: fc.Arbitrary<CompileRequestInput> = fc.oneof(
  fc.record({
    session: fc.constant('demo'),
    kind: fc.constant('dispatch' as const),
    ...asked,
    taskId: fc.constantFrom('1', '9'),
    role: fc.constantFrom(...ROLES),
  }),
  fc.record({ session: fc.constant('demo'), kind: fc.constant('iteration' as const), ...asked }),
  fc.record({ session: fc.constant('demo'), kind: fc.constant('session-start' as const), ...atStart }),
);

it('a prompt of any kind is the same bytes from a log that was folded at once, and from a snapshot at any cut', () => {
  fc.assert(
    fc.property(
      fc.array(results, { maxLength: 30 }),
      fc.nat(),
      fc.array(requests, { minLength: 1, maxLength: 4 }),
      (returned, at, wanted) => {
        const events = stored([
          runInitialized([progressTask('1'), progressTask('2', { status: 'in-progress' })]),
          ...returned.map((result, index): SessionEvent => recorded(index + 1, result)),
        ]);
        const whole = events.reduce(evolve, emptyState('demo'));
        const cut = at % (events.length + 1);
        const built = events
          .slice(cut)
          .reduce(
            evolve,
            restored(encodeSnapshot(events.slice(0, cut).reduce(evolve, emptyState('demo')), AT)),
          );
        for (const input of wanted) {
          const request = compileRequest.parse(input);
          const bytes = (state: SessionState) => JSON.stringify(compilePrompt(state, request));
          const first = bytes(whole);
          expect(bytes(whole)).toBe(first);
          expect(bytes(built)).toBe(first);
        }
      },
    ),
    { numRuns: 150 },
  );
});
