import { ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { TraceFound, TracesListed } from '../contracts/replies/trace-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import type { Flags, Texts } from './cli-command.js';
import { type Cli, note, out, withClient } from './command-context.js';
import { allPages } from './output.js';
import { requireEvents } from './session-argument.js';
import { intentLine } from './show-reply.js';

/** `throughline log --trace`: the actions of an agent for an intent. */

export interface TraceOptions extends Flags<'json'>, Texts<'entry' | 'pin'> {
  /** True lists the intents. */
  readonly trace?: true | string;
}

type Intent = TracesListed['intents'][number];

/** The maximum of one request. */
const PAGE = 200;

export async function showTrace(cli: Cli, session: Token, options: TraceOptions): Promise<void> {
  const { trace, entry, pin } = options;
  if (entry !== undefined && pin !== undefined)
    throw new ThroughlineError('usage', 'give either --entry to look at an entry, or --pin to keep it');
  const intent = trace === true ? undefined : trace;
  await withClient(cli, async (client) => {
    if (entry !== undefined) return showEntry(client, session, entry, intent, options);
    if (pin !== undefined) return pinEntry(client, session, pin, intent, options);
    if (intent !== undefined) return showIntent(client, session, intent, options);
    return listIntents(client, session, options);
  });
}

async function listIntents(client: ThroughlineClient, session: Token, { json }: TraceOptions): Promise<void> {
  const pages = await allPages((cursor) => client.tools.traceList({ session, limit: PAGE, ...cursor }));
  requireEvents(session, pages[0].sequence);
  const intents: readonly Intent[] = pages.flatMap((page) => page.intents);
  if (json) return out(JSON.stringify(intents));
  for (const intent of intents) out(intentLine(intent));
  if (intents.length === 0)
    return note('-- no intent has a trace yet: "throughline publish trace" begins one');
  note(`-- ${counted(intents.length, 'intent')}, the one that was added to last first`);
}

async function showIntent(
  client: ThroughlineClient,
  session: Token,
  intent: string,
  { json }: TraceOptions,
): Promise<void> {
  const reply = await client.compactTrace(session, intent);
  requireEvents(session, reply.sequence);
  if (reply.total === 0)
    throw new ThroughlineError(
      'not_found',
      `session ${session} has no trace of intent ${JSON.stringify(intent)}: "throughline log ${session} --trace" lists those that have one`,
    );
  if (json) return out(JSON.stringify(reply));
  if (reply.summary !== null) out(reply.summary);
  for (const line of reply.recent) out(line);
  note(`-- ${counted(reply.total, 'entry', 'entries')}, ${reply.compacted?.entries ?? 0} of them compacted`);
}

async function showEntry(
  client: ThroughlineClient,
  session: Token,
  id: string,
  intent: string | undefined,
  { json }: TraceOptions,
): Promise<void> {
  const found = await client.getTraceEntry(session, id, intent);
  if (json) return out(JSON.stringify(found));
  for (const line of fieldLines(found.entry)) out(line);
  note(`-- stored at ${found.at}, sequence ${found.sequence} of session ${session}`);
}

async function pinEntry(
  client: ThroughlineClient,
  session: Token,
  id: string,
  intent: string | undefined,
  { json }: TraceOptions,
): Promise<void> {
  const reply = await client.pinTraceEntry(session, id, intent);
  out(json ? JSON.stringify(reply) : `pinned for ${reply.pinned.intent}: ${reply.pinned.text}`);
}

function fieldLines({ stored, output, constraints, size: _, ...fields }: TraceFound['entry']): string[] {
  const lines = Object.entries({ ...fields, ...(constraints?.length && { constraints }) }).map(
    ([name, value]) => `${`${name}:`.padEnd(12)} ${Array.isArray(value) ? value.join(', ') : value}`,
  );
  if (stored === undefined) return [...lines, ...(output === undefined ? [] : [`output:      ${output}`])];
  const { text, first = '', last = '', length } = stored;
  if (text !== undefined) return [...lines, 'output:', text];
  const cut = `... (${length - first.length - last.length} of ${length} characters not kept) ...`;
  return [...lines, 'output:', first, cut, last];
}
