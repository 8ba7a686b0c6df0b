import { describe, expect, it } from 'vitest';
import { bodyPart } from '../../../src/services/tools/rejected-queries.js';
import * as fc from '../../support/properties.js';

const SMALL = 16_384 + 6 * 64;

/** Joins the parts of a body, as a caller does. */
function together(body: Uint8Array, maxReplyBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let offset = 0; ; ) {
    const part = bodyPart(body, offset, maxReplyBytes);
    expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(maxReplyBytes);
    parts.push(Buffer.from(part.body, part.encoding));
    if (part.next === undefined) return Buffer.concat(parts);
    expect(part.truncated).toBe(true);
    expect(part.next).toBeGreaterThan(offset);
    offset = part.next;
  }
}

describe('the body of a rejected result in parts', () => {
  it('what is not UTF-8 is shown as base64', () => {
    expect(bodyPart(Uint8Array.of(0xff, 1), 0, SMALL)).toEqual({ body: '/wE=', encoding: 'base64' });
  });

  it('a long text is cut between two characters', () => {
    const body = Buffer.from('語'.repeat(100));
    const part = bodyPart(body, 0, SMALL);
    expect(part).toEqual({ body: '語'.repeat(21), encoding: 'utf8', truncated: true, next: 63 });
  });

  it('the parts of any body give it back byte for byte, and each fits a reply', () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 1000 }),
      fc.string({ unit: 'binary', maxLength: 500 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        expect(together(body, SMALL)).toEqual(Buffer.from(body));
      }),
    );
  });
});
