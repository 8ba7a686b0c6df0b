import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import type { Session } from '../../src/index.js';
import { isObject } from '../../src/shared/text.js';
import { ROOT } from '../support/samples.js';
import { newSession, systemOfFile } from '../support/system.js';

/** The client for TypeScript does what the cases for the clients of all languages say. */

type Step = Readonly<Record<string, unknown>>;

const file = join(ROOT, 'clients/conformance/cases.json');
const { cases }: { cases: { name: string; steps: Step[] }[] } = JSON.parse(await readFile(file, 'utf8'));
const { client } = await systemOfFile();

const GROUPS: Readonly<Record<string, string>> = {
  tool: 'tools',
  run: 'runs',
  trace: 'traces',
  learning: 'learnings',
  proposal: 'proposals',
};
const camel = (name: string) => name.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function spelled(value: unknown, spelling: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => spelled(each, spelling));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [spelling(name), spelled(of, spelling)]),
  );
}

it.each(cases)('$name', async ({ steps }) => {
  const session = client.session(newSession('conforms'));
  const known: Record<string, unknown> = {};

  /** The value with what `$name.path` stands for: `$work.sequence` is the sequence in the reply that is called work. */
  function filled(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(filled);
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, filled(of)]));
    if (typeof value !== 'string') return value;
    const text = value.replaceAll('$session', session.id);
    if (!text.startsWith('$')) return text;
    return text
      .slice(1)
      .split('.')
      .reduce((found: unknown, key) => Object(found)[key], known);
  }

  function matcher(expected: unknown): unknown {
    if (Array.isArray(expected)) return expected.map(matcher);
    if (!isObject(expected)) return filled(expected);
    const { $has = '', $lacks, $is, $some } = expected;
    if ($is !== undefined) return expect.any($is === 'number' ? Number : String);
    if ($some !== undefined) return expect.arrayContaining([expect.objectContaining(Object(matcher($some)))]);
    if ('$has' in expected || '$lacks' in expected)
      return expect.toSatisfy(
        (text: string) => text.includes(`${filled($has)}`) && !($lacks && text.includes(`${$lacks}`)),
        `has ${$has}, lacks ${$lacks}`,
      );
    return Object.fromEntries(Object.entries(expected).map(([name, of]) => [name, matcher(of)]));
  }

  async function play(step: Step): Promise<void> {
    const { expect: expected = {}, error, then, as, ...given } = step;
    const reply = await replyTo(
      session,
      Object(filled(given)),
      async () => {
        for (const each of (then ?? []) as Step[]) await play(each);
      },
      Array.isArray(expected) ? expected.length : 0,
    ).catch((thrown: unknown) => {
      if (!(thrown instanceof ThroughlineError) || error === undefined) throw thrown;
      const { code, message, fix, details } = thrown;
      expect(fix).not.toBe('');
      return { error: { code, message, fix, details } };
    });
    const shown = spelled(reply, snake);
    known[`${as}`] = shown;
    expect(shown).toMatchObject(Object(matcher(error === undefined ? expected : { error })));
  }

  for (const step of steps) await play(step);
});

async function replyTo(
  session: Session,
  step: Step,
  then: () => Promise<void>,
  count: number,
): Promise<unknown> {
  if (step.open !== undefined) return client.session(`${step.open}`).id;
  if (step.publish !== undefined) {
    const { publish: role, result, text, ...options } = step;
    const given = text ?? spelled(result, camel);
    const publish = session.publish.bind(session) as (
      role: unknown,
      result: unknown,
      options: unknown,
    ) => Promise<unknown>;
    return publish(role, given, spelled(options, camel));
  }
  if (step.watch !== undefined) {
    const seen: unknown[] = [];
    for await (const event of session.watch({ after: Number(step.watch) })) {
      if (seen.push(event) === 1) await then();
      if (seen.length === count) break;
    }
    return seen;
  }
  const fields = Object(spelled(step.fields, camel));
  const [group = '', name = ''] = `${step.send}`.split('.');
  if (group === 'prompt') return session.compile(fields);
  // A request about a session is a method of it, any other one of the client.
  const isWide = ['learning', 'proposal'].includes(group) || name === 'session-list';
  const methods = Reflect.get(isWide ? client : session, `${GROUPS[group]}`);
  return Reflect.get(methods, camel(name))(fields);
}
