import { expect, it } from 'vitest';
import { startNode } from '../support/cli.js';
import {
  type Example,
  goExample,
  largePythonExample,
  pythonExample,
  typescriptExample,
} from '../support/examples.js';
import { refusedAtFirst } from '../support/refused-at-first.js';
import { ROOT } from '../support/samples.js';
import { eventsOf, newSession, publishWire, systemOfFile } from '../support/system.js';

/** Each example does one task, against a model on loopback that plays a script. */

const EXAMPLES: readonly [name: string, found: () => Promise<Example>][] = [
  ['python', () => pythonExample()],
  ['go', goExample],
  ['langgraph', () => largePythonExample('langgraph')],
  ['claude-agent-sdk', () => largePythonExample('claude-agent-sdk')],
  ['vercel-ai-sdk', () => typescriptExample('vercel-ai-sdk')],
  ['openai-agents', () => typescriptExample('openai-agents')],
];

const system = await systemOfFile();

it.for(EXAMPLES)(
  'the example %s takes a task, lets the model recall facts, and has its result in the next prompt',
  async ([name, found], { skip }) => {
    const example = await found();
    if ('missing' in example) return skip(example.missing);
    const session = newSession(name);
    const { client } = system;
    const summary = 'The parser is in src/parser/read.ts';
    await publishWire(
      client,
      'implementer',
      session,
      { task_id: '0', status: 'completed', summary },
      { wait: true },
    );
    await client.tools.taskAdd({ session, content: 'Extend the parser' });
    await using model = await startNode([`${ROOT}scripts/examples/model.mjs`, '0']);
    const endpoints = Object.fromEntries(
      [...model.readyLine.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );

    const printed = await refusedAtFirst(system, session, () =>
      example.run({
        NATS_URL: system.url,
        THROUGHLINE_SESSION: session,
        ...endpoints,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      }),
    );

    const lines = printed.split('\n');
    expect(lines[0]).toBe('TAS-1: Extend the parser');
    expect(lines[1]).toMatch(/^recall/);
    expect(printed).toMatch(/^result \d+: recorded, 3 facts$/m);
    // The model has the file from what it recalled, the reviewer from the model's result.
    expect(printed).toContain('Last result: Changed src/parser/read.ts');
    expect(printed).toContain('Task TAS-1\n');
    const events = await eventsOf(system, session);
    expect(events.filter(({ event }) => event.type === 'fact.recorded')).toHaveLength(2);
  },
);
