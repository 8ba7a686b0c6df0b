import type {
  Learning,
  LearningsInPrompt,
  Proposal,
  RankedLearning,
} from '../../src/memory/learnings/learnings-state.js';

/** Learnings and proposals for tests: each builder gives a valid one, and takes what the test is about. */

export function learning(overrides: Partial<Learning> = {}): Learning {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id: 'abc12def4567',
    type: 'pattern',
    content: 'Prefers explicit errors',
    tags: [],
    source: {},
    evidence: [],
    extractedAt: at,
    confirmedAt: at,
    ...overrides,
  };
}

export function proposal(overrides: Partial<Proposal> = {}): Proposal {
  const { confirmedAt: _, ...rest } = learning();
  return { ...rest, status: 'pending', method: 'note', ...overrides };
}

export function ranked(score: number, overrides: Partial<Learning> = {}): RankedLearning {
  return { score, learning: learning(overrides) };
}

export function inPrompt(overrides: Partial<LearningsInPrompt> = {}): LearningsInPrompt {
  return { method: 'semantic', ranked: [], total: 0, pending: [], sequence: 0, ...overrides };
}
