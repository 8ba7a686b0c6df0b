import { describe, expect, it } from 'vitest';
import { lastResult } from '../../../src/contracts/reading/last-result.js';
import * as fc from '../../support/properties.js';

const block = (json: string) => `BEGIN_DISPATCH_RESULT\n${json}\nEND_DISPATCH_RESULT`;

describe('the last result of a message', () => {
  it('the last of several blocks counts, also where nothing stands between two answers', () => {
    const message = `First.${block('{"task_id":"1"}')}Again: ${block('{"task_id":"2"}')}.`;
    expect(lastResult(message)).toEqual({ text: block('{"task_id":"2"}'), marked: true });
  });

  it.each([
    ['an example in the middle', `I wrote this into the docs:\n${block('{"task_id":"1"}')}\nAll tests pass.`],
    ['a file that ends with one', `The file:\n> ${block('{"task_id":"1"}')}\n\nNothing else is in it.`],
    ['words behind a fenced one', '```json\n{"task_id":"1"}\n```\nThat is the format.'],
  ])('a block that does not end the message does not count: %s', (_, message) => {
    expect(lastResult(message)).toBeUndefined();
  });

  it('a block that is cut off is given as far as it goes', () => {
    expect(lastResult('Done. BEGIN_DISPATCH_RESULT {"task_id":"1"')).toEqual({
      text: 'BEGIN_DISPATCH_RESULT {"task_id":"1"',
      marked: true,
    });
  });

  it('without markers the last fenced object counts, and a message that is an object', () => {
    const fenced = '```json\n{"a":1}\n```\ntext\n```\n{"b":2}\n```\n';
    expect(lastResult(fenced)).toEqual({ text: '{"b":2}', marked: false });
    expect(lastResult(' {"c":3}\n')).toEqual({ text: '{"c":3}', marked: false });
    expect(lastResult('done')).toBeUndefined();
  });

  it('whatever stands before a block, the block is found as it is', () => {
    const before = fc.oneof(
      fc.string(),
      fc.constantFrom('BEGIN_DISPATCH_RESULT', 'END_DISPATCH_RESULT', '{', '```\n'),
    );
    fc.assert(
      fc.property(fc.array(before), fc.json(), (parts, value) => {
        const text = block(`{"v":${value.replaceAll('_DISPATCH_RESULT', '')}}`);
        expect(lastResult(parts.join(' ') + text)?.text).toBe(text);
      }),
    );
  });
});
