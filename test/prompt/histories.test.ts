import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { historiesIn, mean, measureFiles } from '../../scripts/eval/replay.mjs';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { RuleBasedFactExtractor } from '../../src/facts/fact-extractor.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import { evolve } from '../../src/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/session/session-state.js';

/** Three hundred commits each of three projects, as `npm run eval` replays them. */
const HISTORIES = historiesIn(fileURLToPath(new URL('../fixtures/history', import.meta.url)));
const RULES = new RuleBasedFactExtractor();

describe('the likely files of real histories', () => {
  const figures = HISTORIES.map((history) =>
    measureFiles<SessionState>(
      {
        emptyState,
        evolve,
        compile: (state, request) => compilePrompt(state, compileRequest.parse(request)),
        event: (origin, returned) => recordedEvent(origin, returned, RULES),
      },
      history,
    ),
  );

  it('default prompts show as many of the files that the next commit touches as they did when this was written', () => {
    expect(figures).toHaveLength(3);
    for (const { asked } of figures) expect(asked).toBeGreaterThan(150);
    expect(mean(figures.map(({ recall10 }) => recall10))).toBeGreaterThan(0.75);
    expect(mean(figures.map(({ mrr }) => mrr))).toBeGreaterThan(0.7);
  });

  it('default prompts of real histories leave most of their room', () => {
    for (const { tokens } of figures) expect(tokens).toBeLessThan(900);
  });
});
