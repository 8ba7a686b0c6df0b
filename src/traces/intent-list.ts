import { z } from 'zod';
import { cursorOf, readCursor } from '../contracts/page-cursor.js';
import type { TracesListed } from '../contracts/replies/trace-reply.js';
import { clipText, quoted } from '../shared/text.js';
import type { IntentTrace } from './intent-trace.js';
import type { Traces } from './session-traces.js';
import { entryText } from './trace-summary.js';

const MAX_LINE = 300;

/** One page of the intents that are remembered, the one that was added to last first. */
export function intentList(
  { intents }: Traces,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Omit<TracesListed, 'sequence'> {
  const all = [...intents.values()].reverse();
  const behind = cursor === undefined ? undefined : readCursor(cursor, [z.literal('intents'), z.string()])[1];
  const begin = behind === undefined ? 0 : all.findIndex(({ intent }) => intent === behind) + 1;
  const page = all.slice(begin, begin + limit);
  const last = page.at(-1);
  return {
    intents: page.map(listed),
    total: all.length,
    ...(last !== undefined && begin + page.length < all.length && { next: cursorOf('intents', last.intent) }),
  };
}

function listed({ intent, total, compacted, blocks, requests, recent }: IntentTrace) {
  const asked = requests.original?.text ?? requests.newest?.text;
  const last = recent.at(-1);
  return {
    id: intent,
    entries: total,
    compacted,
    blocks,
    ...(asked !== undefined && { request: clipText(quoted(asked), MAX_LINE) }),
    ...(last !== undefined && { last: clipText(quoted(entryText(last)), MAX_LINE) }),
  };
}
