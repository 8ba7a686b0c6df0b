import { compiledSubject, PROMPTS_STREAM, type Token } from '../../contracts/names.js';
import { type KeptPrompt, keptPrompt } from '../../contracts/prompt-requests.js';
import type { ForgottenSessions } from '../../engine/ports/session-lifecycle.js';
import { failedWhile } from '../connection/failed-while.js';
import { publishCreating } from '../jetstream/acked-publisher.js';
import { readStream, valueIn } from '../jetstream/direct-get.js';
import { ensurePromptsStream, RING_SIZE, type StorePorts } from '../jetstream/topology.js';
import { minRetainedSequence } from './nats-session-lifecycle.js';

/** Compiled prompts in the stream `PROMPTS`, a subject per session, of which the server keeps the newest `RING_SIZE`. Losing some is harmless. */
export function promptRing(ports: StorePorts, lifecycle: ForgottenSessions) {
  const { connection, jsm, publisher, timeoutMs } = ports;
  return {
    /** Returns the stored prompts of a session without duplicates, newest first. Throws `unavailable`. */
    async all(session: Token): Promise<readonly KeptPrompt[]> {
      const range = { from: 1, limit: RING_SIZE };
      const subject = compiledSubject(session);
      const reading = readStream({ connection, stream: PROMPTS_STREAM, timeoutMs }, subject, range);
      const messages = await reading.catch(failedWhile(`reading the prompts of ${session}`));
      const kept = messages.flatMap((message) => valueIn(keptPrompt, message) ?? []);
      // A rewrite of the stream may reorder or duplicate prompts.
      const once = [...new Map(kept.map((prompt) => [prompt.id, prompt])).values()];
      return once.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)).reverse();
    },
    async keep(prompt: KeptPrompt): Promise<void> {
      const session = prompt.session as Token;
      await lifecycle.refreshed();
      if (prompt.sequence <= minRetainedSequence(lifecycle, session)) return;
      await publishCreating(publisher, {
        subject: compiledSubject(session),
        body: JSON.stringify(prompt),
        options: { stream: PROMPTS_STREAM },
        make: () => ensurePromptsStream(jsm, ports),
      });
    },
  };
}
