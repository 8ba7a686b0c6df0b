import type { FactsReply } from '../../contracts/inspector-api.js';
import { scopedRequest } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { type ToolName, toolSubject } from '../../contracts/request-names.js';
import type { LiveTransport } from '../../engine/ports/clients.js';

const AT_ONCE = 8;
/** A search of facts ends with so many facts, sessions or milliseconds. */
const FACTS = { found: 6, sessions: 200, ms: 500 };

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
