import type { ActivityReply, FactsReply } from '../../contracts/inspector-api.js';
import { isToken, scopedRequest, type Token } from '../../contracts/names.js';
import { TIMELINE_KINDS } from '../../contracts/replies/dispatch-result.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { type ToolName, toolSubject } from '../../contracts/request-names.js';
import type { LiveTransport } from '../../engine/ports/clients.js';

/** Most sessions that one request reads, those with the newest events. */
const MAX_SESSIONS = 200;
const AT_ONCE = 8;
const PAGE = 100;
/** Pages read of one session. */
const MAX_PAGES = 10;

type Entry = ActivityReply['entries'][number];

/**
 * Merges the timelines of all sessions, the newest entry first. A session whose last event is older than the page needs is not
 * read.
 */
export async function activity(
  transport: Pick<LiveTransport, 'request'>,
  query: URLSearchParams,
  timeoutMs: number,
): Promise<ActivityReply> {
  const ask = asker(transport, timeoutMs);
  const project = query.get('project') || undefined;
  const since = query.get('since') ?? '';
  const before = query.get('before') || '9999';
  const words = (query.get('text') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = TIMELINE_KINDS.filter((kind) => (query.get('kind') ?? '').split(',').includes(kind));
  const asked = {
    ...(kinds.length > 0 && { kinds }),
    ...(query.get('failed') === '1' && { failed: true }),
    limit: PAGE,
  };
  // A list by name alone is sorted by time; the filter by project needs the figures.
  const { sessions, total } = await ask('session-list', {
    limit: MAX_SESSIONS,
    archived: true,
    ...(project === undefined ? { brief: true } : { project }),
  });
  const newest = sessions.toSorted((a, b) => b.at.localeCompare(a.at));
  const fits = ({ session, summary, task = '', at }: Entry) => {
    if (at >= before || at < since) return false;
    const said = `${session} ${task} ${summary}`.toLowerCase();
    return words.every((word) => said.includes(word));
  };
  const ofSession = async (session: Token): Promise<Entry[]> => {
    const found: Entry[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES && found.length <= PAGE; pages += 1) {
      const body = { session, ...asked, ...(cursor !== undefined && { cursor }) };
      const page = await ask('timeline-list', body);
      found.push(...page.entries.map((entry) => ({ ...entry, session })).filter(fits));
      cursor = page.next;
      if (cursor === undefined || (page.entries.at(-1)?.at ?? '') < since) break;
    }
    return found;
  };
  let entries: Entry[] = [];
  for (let from = 0; from < newest.length; from += AT_ONCE) {
    const next = newest.slice(from, from + AT_ONCE);
    const oldest = entries[PAGE]?.at ?? since;
    if ((next[0]?.at ?? '') < oldest) break;
    const read = await Promise.all(next.map(({ session }) => (isToken(session) ? ofSession(session) : [])));
    entries = [...entries, ...read.flat()].sort((a, b) => b.at.localeCompare(a.at)).slice(0, PAGE + 1);
  }
  return {
    entries: entries.slice(0, PAGE),
    more: entries.length > PAGE,
    sessions: { read: newest.length, total },
  };
}

/** A search of facts ends with so many facts, sessions or milliseconds. */
const FACTS = { found: 6, sessions: MAX_SESSIONS, ms: 500 };

/** Finds facts in the sessions with the newest events, and says how many sessions it has searched. */
export async function factsAnywhere(
  transport: Pick<LiveTransport, 'request'>,
  text: string,
  timeoutMs: number,
): Promise<FactsReply> {
  const ask = asker(transport, timeoutMs);
  const end = performance.now() + FACTS.ms;
  const asked = { limit: FACTS.sessions, archived: true, brief: true };
  const { sessions, total } = await ask('session-list', asked);
  const facts: FactsReply['facts'][number][] = [];
  let read = 0;
  while (read < sessions.length && facts.length < FACTS.found && performance.now() < end) {
    const some = sessions.slice(read, read + AT_ONCE);
    // A session that is forgotten meanwhile has no facts.
    const found = some.map(({ session }) =>
      ask('fact-find', { session, text, limit: FACTS.found }).then(
        (reply) => reply.facts.map((fact) => ({ ...fact, session })),
        () => [],
      ),
    );
    facts.push(...(await Promise.all(found)).flat());
    read += some.length;
  }
  return { facts: facts.slice(0, FACTS.found), sessions: { read, total } };
}

function asker(transport: Pick<LiveTransport, 'request'>, timeoutMs: number) {
  return <Name extends ToolName>(name: Name, body: object) =>
    transport.request(scopedRequest(toolSubject(name), body), body, timeoutMs) as Promise<ToolReply<Name>>;
}
