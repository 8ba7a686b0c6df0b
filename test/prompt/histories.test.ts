import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  historiesIn,
  mean,
  measureFiles,
  measurePlants,
  type Product,
  seeded,
} from '../../scripts/eval/replay.mjs';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { RuleBasedFactExtractor } from '../../src/memory/facts/fact-extractor.js';
import { tokens } from '../../src/memory/search/tokens.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';

/** Three hundred commits each of three projects, as `npm run eval` replays them. */
const HISTORIES = historiesIn(fileURLToPath(new URL('../../scripts/eval/history', import.meta.url)));
const RULES = new RuleBasedFactExtractor();

const PRODUCT: Product<SessionState> = {
  emptyState,
  evolve,
  compile: (state, request) => compilePrompt(state, compileRequest.parse(request)),
  event: (origin, returned) => recordedEvent(origin, returned, RULES),
  tokens,
};

describe('the likely files of real histories', () => {
  const figures = HISTORIES.map((history) => measureFiles(PRODUCT, history));

  it('default prompts show as many of the files that the next commit touches as they did when this was written', () => {
    expect(figures).toHaveLength(3);
    for (const { asked } of figures) expect(asked).toBeGreaterThan(150);
    expect(mean(figures.map(({ recall10 }) => recall10))).toBeGreaterThan(0.58);
    expect(mean(figures.map(({ mrr }) => mrr))).toBeGreaterThan(0.62);
  });

  it('default prompts of real histories are short', () => {
    for (const { ten, tokens } of figures) {
      expect(ten).toBeLessThan(900);
      expect(tokens).toBeLessThan(900);
    }
  });
});

describe('what was planted in real histories', () => {
  const planted = HISTORIES.flatMap((history) => measurePlants(PRODUCT, history, [5, 200], seeded(16)));
  const shownOf = (some: typeof planted) => mean(some.map(({ shown }) => Number(shown)));

  it('the best ten facts hold what was planted and is asked for with at least one of its words', () => {
    const reachable = planted.filter(({ words }) => words === 'a common word');
    expect(reachable.length).toBeGreaterThan(300);
    expect(shownOf(reachable)).toBeGreaterThan(0.97);
    expect(shownOf(reachable.filter(({ half }) => half === 'held out'))).toBeGreaterThan(0.97);
  });

  it('default prompts hold what the best ten facts do, and all decisions and conventions, however they are asked for', () => {
    for (const { kind, shown, inPrompt } of planted)
      if (shown || kind !== 'must_fix') expect(inPrompt).toBe(true);
  });

  it('the best ten facts hold most of what was planted in all', () => {
    for (const kind of ['must_fix', 'convention', 'decision'])
      expect(shownOf(planted.filter((each) => each.kind === kind))).toBeGreaterThan(0.84);
    expect(shownOf(planted)).toBeGreaterThan(0.92);
  });
});
