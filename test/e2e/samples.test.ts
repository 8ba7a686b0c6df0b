import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refusedAtFirst } from '../support/refused-at-first.js';
import { goRunner, pythonRunner, ROOT, type Runner, sampleIn, typescriptRunner } from '../support/samples.js';
import { eventsOf, newSession, startSystem } from '../support/system.js';

/** The samples of the docs do what they show, with nothing but what their page says to install. */

const SAMPLES: readonly [
  name: string,
  page: string,
  language: string,
  runner: () => Runner | Promise<Runner>,
][] = [
  ['Python', 'docs/how-to/publish-results.md', 'python', pythonRunner],
  ['TypeScript', 'docs/how-to/publish-results.md', 'ts', typescriptRunner],
  ['Go', 'docs/how-to/publish-results.md', 'go', goRunner],
];

it.for(SAMPLES)(
  'the %s sample of %s has its result recorded once, although no stream takes it at first',
  async ([, page, language, runnerOf], { skip }) => {
    const session = newSession(`sample-${language}`);
    const sample = await sampleIn(page, language);
    const runner = await runnerOf();
    if ('missing' in runner) skip(runner.missing);
    else await recordsOnce(sample, session, runner.run);
  },
);

it('the whole program in TypeScript does what it says', async () => {
  await using system = await startSystem();
  const sample = await readFile(join(ROOT, 'scripts/examples/typescript/session.ts'), 'utf8');
  const code = sample.replace("'demo'", `'${newSession('whole')}'`);
  const printed = await typescriptRunner().run(code, system.url);
  expect(printed.trim().split('\n').sort()).toEqual([
    'answered',
    'claimed TAS-1',
    'command question.answered TAS-1',
    'command task.added TAS-1',
    'command task.claimed TAS-1',
    expect.stringMatching(/^not_found - /),
    'result fact.recorded TAS-1',
  ]);
});

async function recordsOnce(
  sample: string,
  session: string,
  run: (code: string, url: string) => Promise<string>,
) {
  await using system = await startSystem();
  const code = sample.replaceAll('demo', session);
  await refusedAtFirst(system, session, () => run(code, system.url));
  const events = await eventsOf(system, session);
  expect(events.map(({ event }) => event.type)).toEqual(['fact.recorded']);
}
