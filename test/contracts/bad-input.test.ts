import { describe, expect, it } from 'vitest';
import { checkedRequest } from '../../src/contracts/checked.js';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { EVENT_VERSION } from '../../src/contracts/event.js';
import { ROLES } from '../../src/contracts/kinds.js';
import { isToken, parseDispatchSubject, token } from '../../src/contracts/names.js';
import { type RequestName, rowOf } from '../../src/contracts/requests.js';
import { runInitRequest } from '../../src/contracts/run-request.js';
import { SESSION_EVENTS, type SessionEvent } from '../../src/contracts/session-events.js';
import { traceAppendRequest } from '../../src/contracts/trace-entry.js';
import { readDocument } from '../../src/ledger/read-plan.js';
import { RuleBasedFactExtractor } from '../../src/memory/facts/fact-extractor.js';
import { COMMAND_NAMES, decide } from '../../src/memory/session/commands/decide-session.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { recordEntry } from '../../src/memory/traces/record-entry.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET } from '../../src/prompt/prompt-kind.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import { full } from '../prompt/iterations.js';
import {
  BAD_BODIES,
  BAD_TOKENS,
  DISPATCHES,
  mutated,
  ODD_TOKENS,
  ofSession,
  REQUESTS,
  spoiled,
} from '../support/bad-input.js';
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

/** Gives what `work` comes to, or checks that it is refused with a code of ours. */
function typed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error;
    expect(error.code).not.toBe('internal');
    expect(error.message.length).toBeLessThan(5000);
    return undefined;
  }
}

/** What each service does with a request, without a network: the pure part of its handler. */
function handle(name: string, request: unknown, state: SessionState): void {
  const appended = (event: { type: SessionEvent['type']; data: unknown }) =>
    fold(state, { v: EVENT_VERSION, at: AT, id: 'x', ...event } as SessionEvent);
  const command = COMMAND_NAMES.find((each) => `tool.${each}` === name);
  if (command !== undefined) {
    const decided = typed(() => decide(command, state, argumentsFor(`tool.${command}`, request)));
    if (decided?.kind !== 'append') return;
    appended(decided.event);
    JSON.stringify(decided.reply(state));
  } else if (name.startsWith('compile')) {
    const asked = typed(() => checkedRequest(compileRequest, request));
    if (asked !== undefined) typed(() => compilePrompt(state, asked, DEFAULT_BUDGET));
  } else if (name === 'run.init') {
    const asked = typed(() => checkedRequest(runInitRequest, request));
    const read = asked?.tasksText === undefined ? undefined : readDocument(asked.tasksText, 'tasksText', 0);
    if (read?.ok)
      appended({
        type: 'run.initialized',
        data: { spec: asked?.spec ?? 'plan', source: { kind: 'document' }, document: read.document },
      });
  } else if (name === 'trace.append' || name === 'trace.record') {
    const asked = typed(() => checkedRequest(traceAppendRequest, request));
    const entries = (asked?.entries ?? []).flatMap((each) => {
      const recorded = recordEntry(each, () => 'id');
      return 'entry' in recorded ? [recorded] : [];
    });
    const pins = entries.flatMap(({ pin }) => pin ?? []);
    appended({
      type: 'trace.appended',
      data: { entries: entries.map(({ entry }) => entry), malformed: 0, pins },
    });
  } else typed(() => argumentsFor(name as RequestName, request));
}

function argumentsFor(name: RequestName, request: unknown) {
  const { session: _, ...args } = {
    session: '',
    ...(checkedRequest(rowOf(name).request, request) as object),
  };
  return args as never;
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

describe.each(REQUESTS)('a bad request of $name', (contract) => {
  const { name } = contract;
  const good = ofSession(contract, 'demo', contract.good);
  it('a bad request is answered or refused for each field and each wrong value', () => {
    const { state } = full();
    for (const request of spoiled(good)) handle(name, request, state);
    checkState(state);
  });

  it('a bad request is answered or refused whatever is wrong with it', () => {
    fc.assert(
      fc.property(fc.array(mutated(good), { minLength: 1, maxLength: 4 }), (requests) => {
        const { state } = full();
        for (const request of requests) handle(name, request, state);
        checkState(state);
      }),
      { numRuns: 40 },
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
