import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import { ROLES } from '../../src/contracts/kinds.js';
import { isToken, parseDispatchSubject, token } from '../../src/contracts/names.js';
import { SESSION_EVENTS, type SessionEvent } from '../../src/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../src/memory/facts/fact-extractor.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import { full } from '../prompt/iterations.js';
import { BAD_BODIES, BAD_TOKENS, DISPATCHES, mutated, ODD_TOKENS, spoiled } from '../support/bad-input.js';
import * as fc from '../support/properties.js';

const LIMIT = 256 * 1024;
const RULES = new RuleBasedFactExtractor();
const AT = '2026-05-01T00:00:00.000Z';

/** Folds an event as a reader does: from its bytes. What cannot be read back is lost, so it must not be written. */
function fold(state: SessionState, event: SessionEvent): void {
  const read = SESSION_EVENTS.parse(JSON.parse(JSON.stringify(event)));
  expect(read, `an event that can be read back: ${JSON.stringify(event).slice(0, 300)}`).toBeDefined();
  if (read === undefined) return;
  evolve(state, { sequence: state.sequence + 1, event: read });
}

/** Nothing of a state is lost in its snapshot, whatever it holds. */
function checkState(state: SessionState): void {
  const decoded = decodeSnapshot(state.session, encodeSnapshot(state, AT));
  expect(decoded.ok).toBe(true);
  expect(Object.keys(Object.prototype)).toEqual([]);
}

describe.each(ROLES)('a bad dispatch of an %s', (role) => {
  const take = (state: SessionState, body: Uint8Array) => {
    const parsed = parseDispatchBody(body, role, LIMIT);
    if (!parsed.ok) {
      expect(parsed.reason).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
      expect(parsed.reason.length).toBeLessThan(5000);
      return;
    }
    const sequence = state.sequence + 1;
    fold(state, recordedEvent({ sequence, at: AT }, parsed.value, RULES));
  };

  it.each(BAD_BODIES)('a dispatch with a body of %s is refused', (_name, body) => {
    expect(parseDispatchBody(body, role, LIMIT)).toMatchObject({ ok: false, code: expect.any(String) });
  });

  it('a bad dispatch is refused or kept for each field and each wrong value, bare and between markers', () => {
    const { state } = full();
    for (const body of spoiled(DISPATCHES[role])) {
      take(state, Buffer.from(JSON.stringify(body)));
      take(state, Buffer.from(`Done:\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(body)}\nEND_DISPATCH_RESULT`));
    }
    checkState(state);
  });

  it('a bad dispatch is refused or kept whatever is wrong with it', () => {
    fc.assert(
      fc.property(fc.array(mutated(DISPATCHES[role]), { minLength: 1, maxLength: 5 }), (bodies) => {
        const { state } = full();
        for (const body of bodies) take(state, Buffer.from(JSON.stringify(body)));
        checkState(state);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a bad token', () => {
  it.each(BAD_TOKENS)('the text %j is not a token', (name) => {
    expect(isToken(name)).toBe(false);
    const refused = expect.objectContaining({
      code: 'token_invalid',
      message: expect.stringMatching(/^session is \P{Cc}{0,400}$/u),
    });
    expect(() => token(name, 'session')).toThrow(refused);
    expect(parseDispatchSubject(`dispatch.${name}.implementer`)).not.toMatchObject({
      session: name,
      role: 'implementer',
    });
  });

  it.each(ODD_TOKENS)('the text %j is a token', (name) => {
    expect(token(name, 'session')).toBe(name);
  });
});
