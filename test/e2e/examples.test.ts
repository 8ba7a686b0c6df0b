import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { goRunner, pythonRunner, type Runner } from '../support/samples.js';
import { eventsOf, newSession, startSystem } from '../support/system.js';

/** The examples in other languages do one round against a model that is told what to answer. */

const EXAMPLES: readonly [file: string, runner: () => Promise<Runner>][] = [
  ['agent.py', pythonRunner],
  ['agent.go', goRunner],
];

it.for(EXAMPLES)(
  'the example %s takes a task, gives its prompt to a model and publishes what that returned',
  async ([file, runnerOf], { skip }) => {
    const runner = await runnerOf();
    if ('missing' in runner) return skip(runner.missing);
    const code = await readFile(new URL(`../../scripts/examples/${file}`, import.meta.url), 'utf8');
    await using system = await startSystem();
    const session = newSession('demo');
    const { client } = system;
    await client.tools.taskAdd({ session, content: 'Write the parser' });
    await using model = await scriptedModel(
      'Done.\n```json\n{"task_id":"TAS-1","status":"completed","summary":"Parser done"}\n```',
    );
    const printed = await runner.run(code.replaceAll('"demo"', JSON.stringify(session)), {
      NATS_URL: system.url,
      MODEL_URL: model.url,
    });
    expect(printed).toBe('TAS-1: recorded, 2 facts\n');
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]).toContain('Write the parser');
    const { tasks } = await client.tools.taskList({ session });
    expect(tasks).toMatchObject([{ id: 'TAS-1', status: 'completed' }]);
    const types = (await eventsOf(system, session)).map(({ event }) => event.type);
    expect(types.filter((type) => type === 'fact.recorded')).toHaveLength(1);
  },
);

/** An endpoint for chat completions that gives one answer, and keeps what it was asked. */
async function scriptedModel(content: string) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push(body);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
