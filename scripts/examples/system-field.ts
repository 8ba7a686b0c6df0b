import { type PreLlmOptions, withPreLlmCompaction } from '../../src/traces.js';

/**
 * A client whose call takes the system prompt in a field of its own: `{model, system, messages}`. Outside this
 * repository the import is `from 'throughline/traces'`, and the interface below is the SDK's own client.
 */
export interface SystemFieldClient {
  readonly messages: {
    create(call: {
      readonly model: string;
      readonly max_tokens: number;
      readonly system: string;
      readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
    }): Promise<{ readonly content: readonly { readonly type: 'text'; readonly text: string }[] }>;
  };
}

/**
 * A function that asks the model, with the compacted history of the active intent before the system prompt.
 *
 *     const ask = asker(sdk, {
 *       hookEngine: client.hookEngine('demo'),
 *       activeIntentId: () => agent.intent,
 *       session: 'demo',
 *       logger: console,
 *     });
 *     const text = await ask(SYSTEM_PROMPT, 'Go on with the parser');
 */
export function asker(client: SystemFieldClient, options: PreLlmOptions) {
  return withPreLlmCompaction(async (system: string, question: string): Promise<string> => {
    const answer = await client.messages.create({
      model: 'some-model',
      max_tokens: 1024,
      system,
      messages: [{ role: 'user', content: question }],
    });
    return answer.content.map((part) => part.text).join('');
  }, options);
}
