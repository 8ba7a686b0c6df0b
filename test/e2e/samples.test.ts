import { expect, it } from 'vitest';
import { refusedAtFirst } from '../support/refused-at-first.js';
import { goRunner, pythonRunner, type Runner, sampleIn, typescriptRunner } from '../support/samples.js';
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

async function recordsOnce(sample: string, session: string, run: (code: string) => Promise<string>) {
  await using system = await startSystem();
  const code = sample.replaceAll('nats://127.0.0.1:4222', system.url).replaceAll('demo', session);
  expect(code).not.toBe(sample);
  await refusedAtFirst(system, session, () => run(code));
  const events = await eventsOf(system, session);
  expect(events.map(({ event }) => event.type)).toEqual(['fact.recorded']);
}
