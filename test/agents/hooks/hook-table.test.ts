import { describe, expect, it } from 'vitest';
import { HOOK_CLIENTS, hookClient } from '../../../src/agents/hooks/hook-table.js';
import { CLIENT_NAMES, hookPlace, type Payload, payloadsOf } from './hooks.js';

/** Every key that Codex knows in an answer of an event: another one drops the whole answer. */
const CODEX_KEYS: Readonly<Record<string, readonly string[]>> = {
  SessionStart: ['hookSpecificOutput', 'hookEventName', 'additionalContext'],
  UserPromptSubmit: ['hookSpecificOutput', 'hookEventName', 'additionalContext', 'decision', 'reason'],
  PreToolUse: ['hookSpecificOutput', 'hookEventName', 'permissionDecision', 'updatedInput'],
  SubagentStop: ['decision', 'reason'],
  Stop: ['decision', 'reason'],
};

function keysOf(value: object): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'hookSpecificOutput' ? [key, ...keysOf(inner)] : [key],
  );
}

describe('the table of hooks', () => {
  it.each(CLIENT_NAMES)('the payloads of %s have every event that is taken, and no other', (name) => {
    const recorded = new Set(payloadsOf(name).map(({ hook_event_name }) => hook_event_name));
    expect([...recorded].sort()).toEqual(HOOK_CLIENTS[name].events.map((event) => event.name).sort());
  });

  it.each(CLIENT_NAMES)(
    'every payload of %s is answered in the words of its event, or not at all',
    async (name) => {
      const client = hookClient(name);
      for (const payload of payloadsOf(name)) {
        const place = hookPlace();
        const answer = await place.run(name, payload);
        expect(place.lines.filter((line) => !line.includes('the turn is not kept'))).toEqual([]);
        const { answer: kind } = client?.events.find((event) => event.name === payload.hook_event_name) ?? {};
        if (kind === undefined) expect(answer).toBe('');
        if (answer === '') continue;
        const expected = client?.write[kind ?? 'context']('x', payload.hook_event_name) ?? {};
        expect(keysOf(JSON.parse(answer))).toEqual(keysOf(expected));
      }
    },
  );

  it('Codex gets only keys that it knows, event by event', async () => {
    let answers = 0;
    for (const payload of payloadsOf('codex')) {
      const answer = await hookPlace().run('codex', payload);
      if (answer === '') continue;
      answers += 1;
      for (const key of keysOf(JSON.parse(answer)))
        expect(CODEX_KEYS[payload.hook_event_name]).toContain(key);
    }
    expect(answers).toBeGreaterThan(2);
  });

  it.each(CLIENT_NAMES)(
    'an answer that %s would not take whole is left out, with a line in the log',
    async (name) => {
      const { maxContext } = HOOK_CLIENTS[name];
      const start = payloadsOf(name)[0] as Payload;
      const fits = hookPlace({ context: 'x'.repeat(maxContext - 500) });
      expect((await fits.run(name, start)).length).toBeLessThanOrEqual(maxContext);
      expect(fits.lines).toEqual([]);
      const long = hookPlace({ context: '"'.repeat(maxContext) });
      expect(await long.run(name, start)).toBe('');
      expect(long.lines).toEqual([expect.stringContaining('is left out')]);
    },
  );

  it.each(CLIENT_NAMES)('the context that %s asks for stays below what it takes', async (name) => {
    const place = hookPlace();
    for (const payload of payloadsOf(name)) await place.run(name, payload);
    const { contextTokens, maxContext, events } = HOOK_CLIENTS[name];
    const ofTask = events.some((event) => event.moment === 'prompt' && 'answer' in event);
    const budgets = place.asked.map(({ body }) => (body as { budget?: object }).budget);
    expect(budgets.filter((budget) => budget !== undefined)[0]).toEqual(
      ofTask ? { inputTokens: contextTokens } : undefined,
    );
    // Four characters a token, and one more for each that JSON writes as two.
    expect(contextTokens * 4).toBeLessThan(maxContext);
  });

  it.each(payloadsOf('claude-others').map((payload) => [payload.hook_event_name, payload] as const))(
    'the event %s of Claude Code, which is not taken, gets no answer and one line in the log',
    async (_, payload) => {
      const place = hookPlace();
      expect(await place.run('claude', payload)).toBe('');
      expect(place.lines).toHaveLength(1);
      expect(place.asked).toEqual([]);
    },
  );

  it.each(['', '{', '[]', 'null', '{"hook_event_name":5}', '{"hook_event_name":"Elicitation"}', '{}'])(
    'the input %j gets no answer and one line in the log',
    async (input) => {
      for (const name of CLIENT_NAMES) {
        const place = hookPlace();
        expect(await place.run(name, input)).toBe('');
        expect(place.lines).toHaveLength(1);
        expect(place.asked).toEqual([]);
      }
    },
  );
});
