import { describe, expect, it } from 'vitest';
import { shownBody } from '../../../src/services/tools/result-queries.js';
import * as fc from '../../support/properties.js';

const SMALL = 16_384 + 400;

describe('the body of a rejected result', () => {
  it('what is not UTF-8 is shown as base64', () => {
    expect(shownBody(Uint8Array.of(0xff, 1), SMALL)).toEqual({ body: '/wE=', encoding: 'base64' });
  });

  it('what does not fit a reply as text is shown as base64, and of a larger one the beginning', () => {
    const control = Buffer.from('\u0001'.repeat(100));
    expect(shownBody(control, SMALL)).toEqual({ body: control.toString('base64'), encoding: 'base64' });
    const large = Buffer.alloc(1000, 'a');
    expect(shownBody(large, SMALL)).toEqual({
      body: large.subarray(0, 300).toString('base64'),
      encoding: 'base64',
      truncated: true,
    });
  });

  it('a body that fits comes byte for byte, in a reply that fits', () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 70 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        const shown = shownBody(body, SMALL);
        expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(SMALL);
        expect(Buffer.from(shown.body, shown.encoding)).toEqual(Buffer.from(body));
      }),
    );
  });
});
