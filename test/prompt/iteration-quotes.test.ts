import { describe, expect, it } from 'vitest';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { hostileTexts } from '../support/builders.js';
import { Played } from '../support/played.js';
import * as fc from '../support/properties.js';
import { promptOf } from './iterations.js';

describe('text from agents and people', () => {
  /** A session in which every text is the given one. */
  function saying(text: string): SessionState {
    const played = new Played().after('task-add', { content: text }).after('iteration-start', {});
    played.after('note-add', { content: text }).after('inbox-add', { content: text });
    played.after('iteration-summary', { summary: text }).after('iteration-start', {});
    played.after('task-next', { claim: text.slice(0, 100) });
    return played.after('task-status', { id: '1', status: 'completed' }).state;
  }

  const now = '2030-01-01T00:00:00Z';
  const template = '{{tasks}}\n=\n{{notes}}\n=\n{{inbox}}\n=\n{{history}}';
  const shape = [
    /^COMPLETED(:| \(1 of 1, long ones shortened; all: `.*`\):)$/,
    /^ {2}- \[P2\] \[TAS-1\] .* \[iteration #2\]$/,
    /^=$/,
    /^## Notes( \(1 of 1, long ones shortened; all: `.*`\))?$/,
    /^LEARNING:$/,
    /^ {2}- \[NOT-1\] /,
    /^=$/,
    /^## Inbox$/,
    /^- \[MSG-1\] \([\w ]+\) /,
    /^=$/,
    /^- #2 \([\w ]+\): Completed "/,
    /^- #1 \([\w ]+\):( |$)/,
  ];

  it('text from agents and people stays on its line whatever it is, and within its length', () => {
    const texts = fc.oneof(hostileTexts, fc.string({ unit: 'binary', minLength: 600, maxLength: 700 }));
    fc.assert(
      fc.property(
        texts.filter((text) => text.trim() !== ''),
        (text) => {
          const lines = promptOf(saying(text), { template, now }).split(/[\n\r\u2028\u2029\u0085]/);
          // Below a history with a long summary.
          if (/^- \(2 of 2, long ones shortened; all: `.*`\)$/.test(lines.at(-1) ?? '')) lines.pop();
          expect(lines).toHaveLength(shape.length);
          for (const [index, line] of lines.entries()) {
            expect(line).toMatch(shape[index] ?? /never/);
            expect([...line].length).toBeLessThan(1200);
          }
        },
      ),
    );
  });
});
