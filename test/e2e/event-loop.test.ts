import { describe, expect, it } from 'vitest';
import { BAD_BODIES, mutated, ofSession, REQUESTS } from '../support/bad-input.js';
import { holding } from '../support/event-loop.js';
import { ofFile } from '../support/of-file.js';
import * as fc from '../support/properties.js';
import { openPorts, startSystem } from '../support/system.js';

/** The longest that one request may keep all others waiting, in milliseconds. */
const MAX_HELD_MS = 100;

/** What texts are filled with: each is hard for something that reads it. */
const UNITS: readonly string[] = [
  ...['x', 'word ', ' ', '\t ', '\n', '\r\n\r\n', '\u2028', '\u200b', '\u{1f600}', '\\', '"', '\u0000'],
  ...['<| ', '<|', '</ ', '[ task : ', '[/ ', '[INST', 'BEGIN_DISPATCH_RESULT ', '{{ a }} {{', '{{'],
  ...[
    '\u001b;?',
    '\u001b[',
    '\u009b;#',
    '-----BEGIN PRIVATE KEY-----',
    'KEY=abcdef',
    '://a:b',
    'sk-abc',
    'Bearer ',
  ],
  ...[
    '- [ ] a [ ]\u2028\n',
    '- [x] 1. a\n',
    ' _File: a',
    '_File(s): a\n',
    '> - ',
    '# ',
    '| a |\n',
    '(optional',
    '\\[ ]',
  ],
];

/** Characters that a field may have; others have 10,000. */
const ROOM: Readonly<Record<string, number>> = {
  spec: 200_000,
  taskPrompt: 200_000,
  systemPrompt: 200_000,
  template: 100_000,
  extra: 50_000,
  tasksText: 800_000,
};

const filled = (unit: string, room: number) => unit.repeat(Math.floor(room / unit.length));
const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? 'null');

const system = await ofFile(startSystem());
const attacker = await ofFile(openPorts(system));
await system.client.tools.taskAdd({ session: 'attacked', content: 'one' });

const ask = (subject: string, body: Uint8Array) =>
  attacker.connection.request(subject, body, { timeout: 60_000 });

/** How often a request is measured at most: on a machine that others use as well, one measure in a few is theirs. */
const MOST_TIMES = 20;

/** How long the loop is held by a request; measured again where something else may have held it. */
async function heldBy(subject: string, body: Uint8Array): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < MOST_TIMES && least > MAX_HELD_MS; times += 1) {
    least = Math.min(least, await holding(() => ask(subject, body)));
  }
  return least;
}

/**
 * The requests that hold the loop for longer, by their names, with the time. All of them are asked one after another; as
 * long as the longest that any of them held it is within the limit, none has to be looked at alone.
 */
async function holders(
  subject: string,
  bodies: ReadonlyMap<string, Uint8Array>,
): Promise<Record<string, number>> {
  const longest = await holding(...[...bodies.values()].map((body) => () => ask(subject, body)));
  const held: Record<string, number> = {};
  if (longest <= MAX_HELD_MS) return held;
  for (const [name, body] of bodies) {
    const ms = await heldBy(subject, body);
    if (ms > MAX_HELD_MS) held[name] = ms;
  }
  return held;
}

describe('no request holds the event loop for a tenth of a second', () => {
  it.each(REQUESTS)(
    'a request never holds the event loop for a tenth of a second, whatever fills its texts: $name',
    async (contract) => {
      const { subject, good } = contract;
      const held: Record<string, number> = {};
      for (const [key, value] of Object.entries(good)) {
        if (typeof value !== 'string') continue;
        const bodies = new Map<string, Uint8Array>();
        for (const unit of UNITS) {
          const spoiled = { ...good, [key]: filled(unit, ROOM[key] ?? 10_000) };
          const body = json(ofSession(contract, 'attacked', spoiled));
          if (body.length <= 1024 * 1024) bodies.set(`${key} of ${JSON.stringify(unit)}`, body);
        }
        Object.assign(held, await holders(subject, bodies));
      }
      expect(held).toEqual({});
    },
  );

  it('a request never holds the event loop for a tenth of a second, whatever fills the specification of its session', async () => {
    const held: Record<string, number> = {};
    for (const [at, unit] of UNITS.entries()) {
      const session = `spec-${at}`;
      const opened = json({ session, spec: `# A${filled(unit, 199_000)}`, goal: `g${filled(unit, 9_000)}` });
      if (opened.length > 1024 * 1024) continue;
      await attacker.connection.request('tool.session-open', opened, { timeout: 60_000 });
      const asked = json({ session, kind: 'iteration' });
      const ms = await heldBy('prompt.compile', asked);
      if (ms > MAX_HELD_MS) held[JSON.stringify(unit)] = ms;
    }
    expect(held).toEqual({});
  });

  it.each(REQUESTS)(
    'a request never holds the event loop for a tenth of a second, whatever else is wrong with it: $name',
    async (contract) => {
      const { subject } = contract;
      const good = ofSession(contract, 'attacked', contract.good);
      const random = fc.sample(mutated(good), { numRuns: 12, seed: 11 }).map(json);
      const named = random.map((body, at) => [`mutated ${at}`, body] as const);
      expect(await holders(subject, new Map([...BAD_BODIES, ...named]))).toEqual({});
    },
  );
});

it.each([
  ['of 4,999 lines, all of them tasks', '- [x] a\n'.repeat(4999)],
  ['of 4,999 lines in one item', `- all\n${'  - [ ] a\n'.repeat(4998)}`],
  ['of 4,990 rows of a table', `| ID | Task | Status |\n|---|---|---|\n${rows(4990)}`],
  ['of 4,999 lines of text with boxes', '[ ] a\n'.repeat(4999)],
  ['of 100,000 lines, which are too many', '- [x] a\n'.repeat(100_000)],
])('a plan %s never holds the event loop for a tenth of a second', async (_what, tasksText) => {
  expect(await heldBy('run.init', json({ session: 'plans', tasksText }))).toBeLessThanOrEqual(MAX_HELD_MS);
});

function rows(count: number): string {
  return Array.from({ length: count }, (_, at) => `| T${at} | Do | done |`).join('\n');
}

it('the measure of the event loop sees what holds it', async () => {
  const ms = await holding(async () => {
    const until = process.cpuUsage().user + 150_000;
    while (process.cpuUsage().user < until);
  });
  expect(ms).toBeGreaterThan(MAX_HELD_MS);
});
