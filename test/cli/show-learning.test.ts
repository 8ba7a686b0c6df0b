import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { learningCells, outcomeLine, proposalFields, proposedLine } from '../../src/cli/learning-commands.js';
import { inLine } from '../../src/cli/output.js';
import type { ReplyTo } from '../../src/contracts/requests.js';
import type { Proposal } from '../../src/memory/learnings/learnings-state.js';
import { learning, proposal } from '../support/learnings.js';

const plain = picocolors.createColors(false);
const decided = { decidedBy: 'anna', decidedAt: 'noon' };

const NAMED = { id: 'abcdef012345', content: 'Run the linter' };
const LEARNING = learning(NAMED);
const SIMILAR = { learning: '999999abcdef', content: 'Run the linter first', similarity: 0.75 };

function pendingProposal(more: Partial<Proposal> = {}): Proposal {
  return proposal({ ...NAMED, confidence: 0.82, method: 'manual', ...more });
}

function viewOf(of: Partial<Proposal> = {}, more: Partial<ReplyTo<'proposal.show'>> = {}) {
  return { project: 'p', proposal: pendingProposal(of), learning: null, similar: null, sequence: 1, ...more };
}

describe('a line', () => {
  it('a line about a learning holds five characters of the id, type, confidence and text, in columns', () => {
    const { confidence: _, ...unsure } = pendingProposal({ type: 'self_knowledge' });
    const line = (of: Proposal) => inLine(learningCells(plain, of), '  ');
    expect(line(pendingProposal())).toBe('abcde  pattern  0.82  Run the linter');
    expect(line(unsure)).toBe('abcde  self_knowledge   N/A  Run the linter');
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

  it('an outcome names the learning that a proposal was merged into', () => {
    const learning = { ...LEARNING, content: 'Lint first' };
    const merged = viewOf({ ...accepted, mergedInto: '999999abcdef' }, { learning });
    expect(outcomeLine(plain, merged)).toBe('abcde merged into 99999: Lint first');
  });

  it('the outcome of propose says that it is a learning already', () => {
    const known = { ...viewOf({}, { learning: LEARNING }), existing: true };
    expect(proposedLine(plain, known)).toBe('abcde is a learning already: Run the linter');
  });
});
