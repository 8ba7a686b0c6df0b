import { type Token, token } from '../../src/contracts/names.js';
import type { Learning } from '../../src/memory/learnings/learnings-state.js';
import { timeOf } from './builders.js';
import * as fc from './properties.js';

/** Learnings in force, for the tests of what finds them. */

export function learningId(n: number): Token {
  return token(n.toString(16).padStart(12, '0'), 'learning');
}

export function learningOf(
  n: number,
  content = `learning number ${n}`,
  tags: readonly string[] = [],
): Learning {
  const at = timeOf(n);
  return {
    id: learningId(n),
    type: 'pattern',
    content,
    tags,
    source: {},
    evidence: [],
    extractedAt: at,
    confirmedAt: at,
  };
}

export function mapOf(...learnings: readonly Learning[]): Map<string, Learning> {
  return new Map(learnings.map((learning) => [learning.id, learning]));
}

const WORDS = ['parser', 'test', 'error', 'schema', 'zod', 'retry', 'stream', 'name', 'file', 'commit'];

export const someText = fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }).map((words) => words.join(' '));

/** A state of the learnings: few ids, so that a sequence of states adds, changes, keeps and removes. */
const someLearning = fc
  .tuple(fc.integer({ min: 1, max: 8 }), someText, fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }))
  .map(([n, content, tags]) => learningOf(n, content, tags));

/** Several states, one after the other; what has not changed is the same object. */
export const someHistory = fc
  .array(fc.array(fc.oneof(someLearning, fc.integer({ min: 1, max: 8 })), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((steps) => {
    const states = [new Map<string, Learning>()];
    for (const step of steps) {
      const state = new Map(states.at(-1));
      for (const change of step) {
        if (typeof change === 'number') state.delete(learningId(change));
        else state.set(change.id, change);
      }
      states.push(state);
    }
    return states;
  });
