import { codeOf, messageOf } from '../../contracts/errors.js';
import type { Embedder } from '../../ports/embedder.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** The configured embedder, and what prompts expect of it. */
export interface ConfiguredEmbedder {
  readonly load: () => Promise<Embedder | undefined>;
  /** Milliseconds that a prompt waits for the vector of its query. */
  readonly deadlineMs: number;
}

const CHECK = 'embedder';
const TEXTS = ['Is everything in order?', 'Run the tests before each commit'];

/** Whether the embedder gives vectors, and soon enough for a prompt. */
export async function embedderFindings(
  { load, deadlineMs }: ConfiguredEmbedder,
  timeoutMs: number,
): Promise<Finding[]> {
  let embedder: Embedder | undefined;
  let limit: AbortSignal | undefined;
  try {
    embedder = await load();
    if (embedder === undefined) return [];
    let took = 0;
    let dimension = 0;
    // The first text also pays for the connection, or for warming up.
    for (const text of TEXTS) {
      const started = performance.now();
      limit = AbortSignal.timeout(timeoutMs);
      const [vector] = await embedder.embed([text], limit);
      took = Math.round(performance.now() - started);
      dimension = vector?.length ?? 0;
    }
    const message = `${embedder.model} gives ${dimension} numbers in ${took} ms`;
    if (took <= deadlineMs) return [ok(CHECK, message)];
    const fix =
      'raise embedDeadlineMs of THROUGHLINE_TUNING, or use a faster model: until then learnings are found by words alone';
    return [warn(CHECK, `${message}, and a prompt waits for ${deadlineMs}`, fix)];
  } catch (error) {
    const code = codeOf(error);
    const said = limit?.aborted
      ? `${embedder?.model} did not answer within ${timeoutMs} ms`
      : messageOf(error);
    const message = `${said} (${code})`;
    return code === 'config_invalid'
      ? [fail(CHECK, message, 'correct THROUGHLINE_EMBED_…: until then learnings are found by words alone')]
      : [
          warn(
            CHECK,
            message,
            'check that it runs and is not overloaded: until then learnings are found by words alone',
          ),
        ];
  } finally {
    await embedder?.close();
  }
}
