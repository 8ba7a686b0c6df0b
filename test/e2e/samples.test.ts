import { connect, headers } from 'nats';
import { expect, it } from 'vitest';
import { startTestNats } from '../support/nats-server.js';
import { goRunner, pythonRunner, type Runner, sampleIn, typescriptRunner } from '../support/samples.js';
import { eventsOf, newSession, startSystem } from '../support/system.js';

/** The samples of README and docs do what they show, with nothing but what their page says to install. */

const SAMPLES: readonly [
  name: string,
  page: string,
  language: string,
  runner: () => Runner | Promise<Runner>,
][] = [
  ['Python', 'README.md', 'python', pythonRunner],
  ['TypeScript', 'README.md', 'ts', typescriptRunner],
  ['Go', 'docs/how-to/publish-results.md', 'go', goRunner],
];

it.for(SAMPLES)(
  'the %s sample of %s has its result recorded once, although Throughline is not there at first',
  async ([, page, language, runnerOf], { skip }) => {
    const session = newSession(`sample-${language}`);
    const sample = await sampleIn(page, language);
    const runner = await runnerOf();
    if ('missing' in runner) skip(runner.missing);
    else await recordsOnce(sample, session, runner.run);
  },
);

async function recordsOnce(sample: string, session: string, run: (code: string) => Promise<string>) {
  await using nats = await startTestNats();
  const code = sample.replaceAll('nats://127.0.0.1:4222', nats.url).replaceAll('demo', session);
  expect(code).not.toBe(sample);
  // Nothing takes its first publish, as long as Throughline is not there.
  const nobody = await connect({ servers: nats.url });
  const first = new Promise<string | undefined>((resolve) => {
    nobody.subscribe(`dispatch.${session}.*`, {
      max: 1,
      callback(_, message) {
        message.respond('', { headers: headers(503, 'No Responders') });
        resolve(message.headers?.get('Nats-Msg-Id'));
      },
    });
  });
  await nobody.flush();
  const ran = run(code);
  const id = await Promise.race([first, ran]);
  await nobody.close();
  await using system = await startSystem({ nats });
  await ran;
  expect(id).toMatch(new RegExp(`^${session}:\\S{32,}$`));
  const events = await eventsOf(system, session);
  expect(events.map(({ event }) => event.type)).toEqual(['fact.recorded']);
}
