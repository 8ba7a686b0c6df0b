import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import {
  confidenceText,
  learningLine,
  outcomeLine,
  proposalFields,
  proposedLine,
  rankedLine,
} from '../../src/cli/learning-commands.js';
import type { ReplyTo } from '../../src/contracts/requests.js';
import type { Proposal } from '../../src/memory/learnings/learnings-state.js';
import { learning, proposal } from '../support/learnings.js';

const plain = picocolors.createColors(false);
const decided = { decidedBy: 'anna', decidedAt: 'noon' };

const NAMED = { id: 'abcdef012345', content: 'Run the linter' };
const LEARNING = learning(NAMED);
/** The learning that says nearly the same. */
const SIMILAR = { learning: '999999abcdef', content: 'Run the linter first', similarity: 0.75 };

/** A proposal without a decision. */
function pendingProposal(more: Partial<Proposal> = {}): Proposal {
  return proposal({ ...NAMED, confidence: 0.82, method: 'manual', ...more });
}

/** What the service answers about a proposal. */
function viewOf(of: Partial<Proposal> = {}, more: Partial<ReplyTo<'proposal.show'>> = {}) {
  return { project: 'p', proposal: pendingProposal(of), learning: null, similar: null, sequence: 1, ...more };
}

describe('a line', () => {
  it.each([
    [undefined, 'N/A'],
    [0, '0.00'],
    [0.8, '0.80'],
    [1, '1.00'],
  ])('a line about a learning shows a confidence of %j as %s', (confidence, text) => {
    expect(confidenceText(confidence)).toBe(text);
  });

  it('a line about a learning holds five characters of the id, type, confidence and text, in columns', () => {
    const { confidence: _, ...unsure } = pendingProposal({ type: 'self_knowledge' });
    expect(learningLine(plain, pendingProposal())).toBe('abcde  pattern  0.82  Run the linter');
    expect(learningLine(plain, unsure)).toBe('abcde  self_knowledge   N/A  Run the linter');
  });

  it('a line about a learning says who decided', () => {
    const merged = pendingProposal({ status: 'accepted', ...decided, mergedInto: '999999abcdef' });
    expect(learningLine(plain, merged)).toMatch(
      /Run the linter {2}\(accepted by anna at noon, merged into 99999\)$/,
    );
  });

  it('a line about a learning shows a score where there is one', () => {
    expect(rankedLine(plain, { learning: LEARNING, score: 0.891 })).toBe(
      '[0.89] abcde  pattern         Run the linter',
    );
    expect(rankedLine(plain, { learning: LEARNING, score: 0 })).toBe(
      '-      abcde  pattern         Run the linter',
    );
  });

  it('a line about a learning says why it is out of force', () => {
    const retracted = { status: 'retracted', ...decided, reason: 'biome\u001b[31m\ndoes it' } as const;
    expect(learningLine(plain, pendingProposal(retracted))).toMatch(
      /Run the linter {2}\(retracted by anna at noon: biome does it\)$/,
    );
  });

  it('a line about a learning is plain text, whatever it holds', () => {
    const line = learningLine(
      plain,
      pendingProposal({ content: 'a\u001b[31mb\r\nc', id: '\u001b[2Jabcdef' }),
    );
    expect(line).not.toMatch(/\p{Cc}/u);
  });
});

describe('a proposal in full', () => {
  it('a proposal in full shows each field that it has', () => {
    const view = viewOf(
      {
        status: 'rejected',
        ...decided,
        reason: 'too narrow',
        tags: ['a', 'b'],
        source: { session: 'demo', dispatch: 7, note: 'NOT-1' },
        evidence: [{ session: 'demo', dispatch: 7, task: '1' }],
      },
      { similar: SIMILAR },
    );
    expect(proposalFields(plain, view).split('\n')).toEqual([
      'id           abcdef012345',
      'status       rejected by anna at noon',
      'type         pattern',
      'confidence   0.82',
      'content      Run the linter',
      'tags         a, b',
      'method       manual',
      'source       session demo, result 7, note NOT-1',
      'proposed     2026-01-01T00:00:00.000Z',
      'reason       too narrow',
      'similar      99999 (0.75) Run the linter first',
      'evidence     session demo, task 1, result 7',
    ]);
  });

  it('a proposal in full shows the text of the learning that it was merged into', () => {
    const merged = pendingProposal({ status: 'accepted', ...decided, mergedInto: '999999abcdef' });
    const shown = (content: string) =>
      proposalFields(plain, viewOf(merged, { learning: { ...LEARNING, content } }));
    expect(shown('Lint first').split('\n')).toContain('now          Lint first');
    expect(shown(merged.content)).not.toContain('now');
  });
});

describe('an outcome', () => {
  const accepted = pendingProposal({ status: 'accepted', ...decided });

  it.each([
    ['abcde accepted: Run the linter', viewOf(accepted, { learning: LEARNING })],
    ['abcde rejected: Run the linter', viewOf({ status: 'rejected', ...decided })],
    [
      'abcde merged into 99999: Lint first',
      viewOf(
        { ...accepted, mergedInto: '999999abcdef' },
        { learning: { ...LEARNING, content: 'Lint first' } },
      ),
    ],
    ['abcde retracted: Run the linter', viewOf({ status: 'retracted', ...decided })],
  ])('an outcome is shown as %j', (line, view) => {
    expect(outcomeLine(plain, view)).toBe(line);
  });

  it.each([
    ['abcde proposed: Run the linter', false, null],
    ['abcde is proposed already: Run the linter', true, null],
    ['abcde is a learning already: Run the linter', true, LEARNING],
  ])('the outcome of propose is shown as %j', (line, existing, known) => {
    expect(proposedLine(plain, { ...viewOf({}, { learning: known }), existing })).toBe(line);
  });
});
