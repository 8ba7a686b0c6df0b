import { type PreLlmOptions, preparePrompt } from '../../src/traces.js';

/**
 * A client whose call takes the system prompt as the first message: `{model, messages: [{role: 'system', …}]}`, and
 * streams its answer. Outside this repository the import is `from 'throughline/traces'`.
 */
export interface SystemMessageClient {
  readonly chat: {
    readonly completions: {
      create(call: {
        readonly model: string;
        readonly stream: true;
        readonly messages: readonly {
          readonly role: 'system' | 'user' | 'assistant';
          readonly content: string;
        }[];
      }): Promise<AsyncIterable<{ readonly choices: readonly { readonly delta: { content?: string } }[] }>>;
    };
  };
}

/** Tokens that the model takes, and how they are counted. */
export interface ContextWindow {
  readonly tokens: number;
  count(text: string): number;
}

/**
 * Asks the model. `preparePrompt` gives both prompts: the model gets the effective one, what is dropped from the
 * conversation goes by the original one, so that the summary is not counted against it twice.
 */
export async function* streamed(
  client: SystemMessageClient,
  options: PreLlmOptions & { readonly window: ContextWindow },
  systemPrompt: string,
  conversation: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[],
): AsyncGenerator<string> {
  const { original, effective } = await preparePrompt(systemPrompt, options);
  const { tokens, count } = options.window;
  const kept = [...conversation];
  const size = () => kept.reduce((sum, { content }) => sum + count(content), count(original));
  while (kept.length > 1 && size() > tokens) kept.shift();
  const messages = [{ role: 'system' as const, content: effective }, ...kept];
  const chunks = await client.chat.completions.create({ model: 'some-model', stream: true, messages });
  for await (const chunk of chunks) yield chunk.choices[0]?.delta.content ?? '';
}
