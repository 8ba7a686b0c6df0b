import { expect, it } from 'vitest';
import { plainSequence } from '../../../src/nats/jetstream/publish-outcome.js';

it.each([
  ['{"stream":"SESSION_a","seq":17}', 17],
  ['{"stream":"SESSION_a","seq":999999999999999}', 999_999_999_999_999],
  // Everything else is left to the parser.
  ['{"stream":"SESSION_a", "seq":17}', undefined],
  ['{"stream":"SESSION_b","seq":17}', undefined],
  ['{"stream":"SESSION_a","seq":17,"duplicate": true}', undefined],
  ['{"stream":"SESSION_a","seq":}', undefined],
  ['{"stream":"SESSION_a","seq":0}', undefined],
  ['{"stream":"SESSION_a","seq":1234567890123456}', undefined],
  ['{"stream":"SESSION_a","seq":17', undefined],
  ['', undefined],
])('a PubAck that says no more than its sequence is read without a parser: %s', (ack, sequence) => {
  expect(plainSequence(Buffer.from(ack), 'SESSION_a')).toBe(sequence);
});
