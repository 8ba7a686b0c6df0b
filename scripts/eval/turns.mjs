// What the next session gets after a recorded run: each file of a folder is one turn, replayed through the rules of the
// hooks and the fold, and its session-start prompt is printed, for a person to read.
//
//   npm run eval -- turns                     # the runs in ../shared/data/traces
//   npm run eval -- turns --data FOLDER       # your own: trace entries, one JSON object a line
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const AT = '2026-01-01T10:00:00.000Z';

/** The turns of a folder, each as the lines that the next session starts with. */
export async function replayTurns(dist, folder) {
  const load = (path) => import(new URL(path, pathToFileURL(`${dist}/`)));
  const [hooks, extractor, rules, fold, states, prompts, requests] = await Promise.all([
    load('agents/hooks/hook-turn.js'),
    load('services/extractor/extractor-worker.js'),
    load('memory/facts/fact-extractor.js'),
    load('memory/session/evolve-session.js'),
    load('memory/session/session-state.js'),
    load('prompt/compile-prompt.js'),
    load('contracts/compile-request.js'),
  ]);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  return files.map((file) => {
    const name = basename(file, '.jsonl');
    const text = readFileSync(join(folder, file), 'utf8');
    const entries = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    const said = entries.filter(({ state }) => state === 'REASONING');
    const body = hooks.turnBody({
      ...{ client: 'claude', conversation: name },
      notes: [
        { request: entries.find(({ state }) => state === 'REQUEST')?.payload.reasoning ?? '' },
        ...entries.filter(({ state }) => state === 'ACTION').map((entry) => ({ entry })),
      ],
      message: said.at(-1)?.payload.reasoning ?? '',
    });
    if (body === undefined) return { name, prompt: '' };
    const state = states.emptyState(name);
    const returned = { role: hooks.TURN, result: body };
    const event = extractor.recordedEvent(
      { sequence: 1, at: AT },
      returned,
      new rules.RuleBasedFactExtractor(),
    );
    fold.evolve(state, { sequence: 1, event });
    const request = { kind: 'session-start', session: name, now: '2026-01-01T12:00:00.000Z' };
    const { prompt, tokenEstimate } = prompts.compilePrompt(state, requests.compileRequest.parse(request));
    return { name, prompt, tokens: tokenEstimate };
  });
}
