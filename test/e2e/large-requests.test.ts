import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningProcess, startCli } from '../support/cli.js';
import { openPorts, type System, startSystem } from '../support/system.js';

const REQUESTS = 400;
/** Requests that wait for their answers at a time. */
const IN_FLIGHT = 8;

let system: System;
let services: RunningProcess;
beforeAll(async () => {
  system = await startSystem({ only: [] });
  services = await startCli(['admin', 'serve'], { NATS_URL: system.url, THROUGHLINE_LOG_LEVEL: 'info' });
});
afterAll(async () => {
  await services.stop();
  await system.stop();
});

// Any of them takes as long to read as any of its size.
const BODIES = ['tool.note-add', 'tool.task-add', 'prompt.compile', 'learning.propose'].map((subject) => ({
  subject,
  body: Buffer.from(JSON.stringify({ session: 'flooded', content: 'word '.repeat(200_000) })),
}));

it('the services refuse a flood of 1 MiB requests unread, stay connected, and answer others', async () => {
  const attacker = await openPorts(system);
  const { connection } = attacker;
  const noted = (content: string) => system.client.tools.noteAdd({ session: 'bystander', content });
  await noted('before');
  const answers: string[] = [];
  const waits: number[] = [];
  let sent = 0;
  const flood = async () => {
    while (sent < REQUESTS) {
      const { subject, body } = BODIES[sent % BODIES.length] ?? { subject: '', body: Buffer.of() };
      sent += 1;
      const reply = await connection.request(subject, body, { timeout: 60_000 });
      answers.push(reply.json<{ error?: { code: string } }>().error?.code ?? 'done');
    }
  };
  const begun = performance.now();
  const flooded = Promise.all(Array.from({ length: IN_FLIGHT }, flood));
  while (answers.length < REQUESTS) {
    const asked = performance.now();
    await noted(`beside ${answers.length}`);
    waits.push(performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await flooded;
  const seconds = (performance.now() - begun) / 1000;
  await attacker.close();
  const refused = answers.filter((answer) => answer === 'rate_limited').length;
  console.info(
    `large requests: ${Math.round(REQUESTS / seconds)} a second, ${REQUESTS - refused} read, others waited ${Math.round(Math.max(...waits))} ms at most`,
  );
  // A caller may send 16 MiB at once, and then 8 a second.
  expect(REQUESTS - refused).toBeLessThan((16 + 8 * seconds) * 1.1 + 1);
  expect(services.stderr()).not.toContain('connection lost');
});
