import type { JetStreamManager, NatsConnection } from 'nats';
import { EVENT_VERSION, jsonOf } from '../../contracts/event.js';
import { LEARNINGS_STREAM, sessionOfStream, sessionOfSubject, shardOfStream } from '../../contracts/names.js';
import { SESSION_EVENTS } from '../../contracts/session-events.js';
import { batchesOf, type StreamMessage } from '../jetstream/direct-get.js';
import { type Finding, fail, ok, warn } from './finding.js';
import type { ConfiguredEmbedder } from './service-findings.js';

/** Limits of the scan: the most recently written logs, and the newest messages of each. */
const STREAMS = 100;
const NEWEST = 1000;
/** Messages listed per log. */
const SHOWN = 10;
const CHECK = 'logs';

/** Finds messages in logs that do not count: stored replies to requests, and events of another version. */
export async function eventFindings(
  connection: NatsConnection,
  jsm: JetStreamManager,
  timeoutMs: number,
  embedder?: ConfiguredEmbedder,
): Promise<Finding[]> {
  const logs = [];
  for await (const { config, state } of jsm.streams.list())
    if (isLog(config.name) && state.messages > 0) logs.push({ name: config.name, state });
  logs.sort((one, other) => (String(one.state.last_ts) > String(other.state.last_ts) ? -1 : 1));
  const found: Finding[] = [];
  /** Model of the newest vectors, by subject. */
  const models = new Map<string, string>();
  for (const { name, state } of logs.slice(0, STREAMS)) {
    const replies: string[] = [];
    const otherVersions: string[] = [];
    const from = Math.max(1, state.first_seq, state.last_seq - NEWEST + 1);
    for await (const messages of batchesOf(connection, name, '>', { seq: from }, timeoutMs)) {
      for (const message of messages) {
        const judged = judge(message, models);
        if (typeof judged === 'number')
          otherVersions.push(`${message.sequence} (an event of version ${judged})`);
        else if (judged !== undefined) replies.push(`${message.sequence} (${judged})`);
      }
    }
    if (otherVersions.length > 0)
      found.push(fail('event versions', said(name, otherVersions), OTHER_VERSION_FIX));
    if (replies.length > 0) found.push(warn(CHECK, said(name, replies), REPLY_FIX));
  }
  found.push(...(await vectorModelFindings(models, embedder)));
  if (found.length > 0) return found.slice(0, SHOWN);
  return [ok(CHECK, `only events among the newest ${NEWEST} of each`)];
}

const REPLY_FIX =
  'they count nowhere; check which users may send requests. "nats stream rmm" removes a message from a stream';
const OTHER_VERSION_FIX = `no session or project counts them, since this version reads events of version ${EVENT_VERSION}: use the version of Throughline that wrote them, or begin with an empty store`;

function isLog(stream: string): boolean {
  return stream === LEARNINGS_STREAM || (shardOfStream(stream) ?? sessionOfStream(stream)) !== undefined;
}

/** Finds sessions whose decisions are ordered by words, because their vectors are of another model than the configured one. */
async function vectorModelFindings(
  models: ReadonlyMap<string, string>,
  embedder: ConfiguredEmbedder | undefined,
): Promise<Finding[]> {
  if (models.size === 0 || embedder === undefined) return [];
  // The check of the embedder says why it does not load.
  const loaded = await embedder.load().catch(() => undefined);
  if (loaded === undefined) return [];
  await loaded.close();
  const others = [...models].flatMap(([subject, model]) =>
    model === loaded.model ? [] : `${sessionOfSubject(subject)} (${model})`,
  );
  if (others.length === 0) return [];
  const message = `of another model than ${loaded.model}, so they are ignored: ${others.slice(0, SHOWN).join(', ')}${others.length > SHOWN ? ' …' : ''}`;
  return [warn('fact vectors', message, 'the next result of each session computes them again')];
}

/** Describes a message that is not an event; returns the version of an event of another version; else `undefined`. */
function judge(
  { subject, data, foreign }: StreamMessage,
  models: Map<string, string>,
): string | number | undefined {
  if (foreign !== undefined) return foreign;
  const json = jsonOf(data);
  const { v, type }: { v?: unknown; type?: unknown } = typeof json === 'object' && json !== null ? json : {};
  if (typeof v !== 'number' || typeof type !== 'string') return 'not an event';
  const event = type === 'fact.vectors' ? SESSION_EVENTS.parse(json) : undefined;
  if (event?.type === 'fact.vectors') models.set(subject, event.data.model);
  return v === EVENT_VERSION ? undefined : v;
}

function said(stream: string, all: readonly string[]): string {
  const more = all.length > SHOWN ? ' …' : '';
  return `${all.length} of the newest ${NEWEST} of ${stream}: ${all.slice(0, SHOWN).join(', ')}${more}`;
}
