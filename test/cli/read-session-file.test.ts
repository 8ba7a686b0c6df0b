import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { checkedSessionFile, numberedEvents } from '../../src/cli/session-import.js';

const AT = '2026-01-01T00:00:00.000Z';
const HEAD = {
  throughline: 'session',
  v: 1,
  session: 'demo',
  project: 'default',
  sequence: 1,
  version: '1.0.0',
  at: AT,
};
const EVENT = {
  sequence: 1,
  event: { v: 1, type: 'session.opened', at: AT, id: '1', data: { goal: 'A parser' } },
};

function fileWith(after: string) {
  const lines = [HEAD, EVENT].map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  return {
    name: 'demo.jsonl',
    bytes: Buffer.from(`${lines}${JSON.stringify({ events: 1, sha256 })}${after}`),
  };
}

it.each(['', '\n', '\n\n', '\r\n \t\n\n'])('a session file may end with white space: %j', async (after) => {
  expect((await checkedSessionFile(fileWith(after))).state.count).toBe(1);
  const events = [];
  for await (const event of numberedEvents(fileWith(after))) events.push(event);
  expect(events).toHaveLength(1);
});

it('anything else behind the end of a session file is refused, as white space within it is', async () => {
  await expect(checkedSessionFile(fileWith('\n\nx\n'))).rejects.toThrow(
    'demo.jsonl line 5: stands after the last line of a whole file',
  );
  const { bytes } = fileWith('');
  const torn = Buffer.from(bytes.toString().replace('\n', '\n\n'));
  await expect(checkedSessionFile({ name: 'demo.jsonl', bytes: torn })).rejects.toThrow(
    'line 2: is not JSON',
  );
});
