import { describe, expect, it, vi } from 'vitest';
import { asker, type SystemFieldClient } from '../../../scripts/examples/system-field.js';
import { type SystemMessageClient, streamed } from '../../../scripts/examples/system-message.js';
import { HookEngine, type PreLlmOptions } from '../../../src/traces.js';
import { all } from '../../support/streams.js';

const SUMMARY = '[Compacted History]\nStands for 20 earlier entries';
const SYSTEM = 'You write parsers.';

function wired(summary: string | null): PreLlmOptions {
  const hookEngine = new HookEngine().registerPreLLM(async () => summary);
  return { hookEngine, activeIntentId: () => 'INT-1', logger: { error: vi.fn() }, session: 'demo' };
}

describe('a client with a system field', () => {
  function fake() {
    const create = vi.fn<SystemFieldClient['messages']['create']>(async () => ({
      content: [
        { type: 'text', text: 'all ' },
        { type: 'text', text: 'done' },
      ],
    }));
    return { create, client: { messages: { create } } };
  }

  it('a client with a system field gets the summary before the system prompt, and everything else as it was', async () => {
    const { client, create } = fake();
    expect(await asker(client, wired(SUMMARY))(SYSTEM, 'Go on')).toBe('all done');
    expect(create.mock.calls).toEqual([
      [
        {
          model: 'some-model',
          max_tokens: 1024,
          system: `${SUMMARY}\n\n${SYSTEM}`,
          messages: [{ role: 'user', content: 'Go on' }],
        },
      ],
    ]);
  });

  it('a client with a system field gets the system prompt alone while there is no summary', async () => {
    const { client, create } = fake();
    await asker(client, wired(null))(SYSTEM, 'Go on');
    expect(create.mock.calls[0]?.[0].system).toBe(SYSTEM);
  });
});

describe('a client with a system message', () => {
  function fake() {
    const create = vi.fn<SystemMessageClient['chat']['completions']['create']>(async () =>
      (async function* () {
        yield { choices: [{ delta: { content: 'all ' } }] };
        yield { choices: [{ delta: {} }] };
        yield { choices: [{ delta: { content: 'done' } }] };
      })(),
    );
    return { create, client: { chat: { completions: { create } } } };
  }
  const conversation = [
    { role: 'user' as const, content: 'first' },
    { role: 'assistant' as const, content: 'second' },
    { role: 'user' as const, content: 'third' },
  ];
  const count = (text: string) => text.length;

  it('a client with a system message gets the summary in it, and streams its answer through', async () => {
    const { client, create } = fake();
    const options = { ...wired(SUMMARY), window: { tokens: 1000, count } };
    const parts = await all(streamed(client, options, SYSTEM, conversation));
    expect(parts.join('')).toBe('all done');
    expect(create.mock.calls[0]?.[0].messages).toEqual([
      { role: 'system', content: `${SUMMARY}\n\n${SYSTEM}` },
      ...conversation,
    ]);
  });

  it('a client drops from the conversation by the original prompt: as much with a summary as without', async () => {
    // Room for the original prompt and the last two messages, and not for the summary.
    const window = { tokens: SYSTEM.length + 'second'.length + 'third'.length, count };
    const kept = [];
    for (const summary of [SUMMARY, null]) {
      const { client, create } = fake();
      await all(streamed(client, { ...wired(summary), window }, SYSTEM, conversation));
      kept.push(create.mock.calls[0]?.[0].messages.slice(1));
    }
    expect(kept[0]).toEqual(conversation.slice(1));
    expect(kept[1]).toEqual(kept[0]);
  });
});
