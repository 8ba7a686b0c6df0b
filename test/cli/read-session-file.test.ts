import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sessionFiles } from '../../src/cli/session-import.js';
import { SNAPSHOT_VERSION, stateToJson } from '../../src/memory/session/session-snapshot.js';
import { emptyState } from '../../src/memory/session/session-state.js';

const AT = '2026-01-01T00:00:00.000Z';
const OPENED = { v: 1, type: 'session.opened', at: AT, id: '1', data: { goal: 'A parser' } };

function fileOf(event: object = OPENED, session = 'demo'): string {
  const head = { throughline: 'session', v: 1, session, version: '1.0.0', at: AT };
  const lines = [head, { sequence: 7, event }].map((line) => `${JSON.stringify(line)}\n`).join('');
  return `${lines}{"events":1}\n`;
}

async function read(text: string) {
  const files = [];
  const lines = text === '' ? [] : text.split(/\r?\n/);
  for await (const file of sessionFiles('demo.jsonl', lines)) files.push(file);
  return files;
}

function checkpointWith(packed: Buffer) {
  const data = { covers: 7, state: packed.toString('base64'), reason: 'archived' };
  return { v: 1, type: 'session.checkpoint', at: AT, id: 'c', data };
}
function stateWith(more: object) {
  const state = { ...stateToJson(emptyState('demo')), last_event_at: AT, started_at: AT, ...more };
  return checkpointWith(gzipSync(JSON.stringify({ v: SNAPSHOT_VERSION, state })));
}
const numbers = (values: readonly number[]) => Buffer.from(values).toString('base64');

describe('a session file', () => {
  it.each(['', '\n', '\r\n \t\n\n'])('a session file may end with white space: %j', async (after) => {
    const [file] = await read(`${fileOf()}${after}`);
    expect(file).toMatchObject({ session: 'demo', events: [OPENED] });
  });

  it('a file holds several sessions one after another', async () => {
    const files = await read(`${fileOf()}${fileOf(OPENED, 'other')}`);
    expect(files.map(({ session }) => session)).toEqual(['demo', 'other']);
  });

  it.each([
    ['cut off', fileOf().split('\n').slice(0, 2).join('\n'), 'demo.jsonl line 2: it was cut off'],
    ['without a line', fileOf().replace('{"events":1}', '{"events":2}'), 'line 3: lines before are missing'],
    ['torn', fileOf().replace('\n', '\n\n'), 'line 2: is not JSON'],
    ['followed by text', `${fileOf()}\nx\n`, 'line 5: is not JSON'],
    ['empty', '', 'demo.jsonl is empty: export it again'],
    ['of a later version', fileOf().replace('"v":1', '"v":2'), 'demo.jsonl line 1: v is'],
    ['with an unknown event', fileOf({ ...OPENED, type: 'x' }), 'line 2: event.type'],
  ])('a file that is %s is refused with its line', async (_, text, said) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining(said),
    });
  });

  it.each([
    ['is not gzip', checkpointWith(Buffer.from('x')), 'not gzip and Base64'],
    ['unpacks to 250 MB', checkpointWith(gzipSync(Buffer.alloc(250_000_000))), 'at most 16777216 bytes'],
    ['has other fields', stateWith({ facts: Array(10_000).fill({}) }), 'state.facts.0.'],
    [
      'counts impossible numbers',
      stateWith({
        window: { recent: [], counted: { floor: 0, steps: numbers([0]), removed: 0 } },
      }),
      'steps of counted dispatches',
    ],
    [
      'has paths that unpack to gigabytes',
      stateWith({
        past: {
          total: 1,
          words: '',
          tasks: [],
          paths: 'ab\n'.repeat(5000),
          // Each path is the one before and a character more.
          numbers: numbers([0x88, 39, ...Array.from({ length: 5000 }, () => [0xff, 0x7f, 1, 0]).flat()]),
        },
      }),
      'state.past',
    ],
  ])('a file with a checkpoint that %s is refused with its line', async (_, event, said) => {
    await expect(read(fileOf(event))).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringMatching(new RegExp(`^demo.jsonl line 2: .*${said}`)),
    });
  });
});
