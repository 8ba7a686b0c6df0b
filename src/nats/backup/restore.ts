import {
  DeliverPolicy,
  type JetStreamManager,
  type NatsConnection,
  type StreamConfig,
  type StreamState,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, LAYOUT_SUBJECT } from '../../contracts/names.js';
import { counted } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { installationStream, RESTORING, RESTORING_MARK } from '../jetstream/layout-record.js';
import { KvBucket } from '../stores/kv-bucket.js';
import { NatsRetentionStore } from '../stores/kv-stores.js';
import {
  type BackupManifest,
  INSTALLATION_STREAM,
  MANIFEST,
  OWN_STREAMS,
  ownConfig,
  ownConsumer,
  ownStreams,
  readManifest,
  requireOwn,
  type StoredStream,
} from './backup-manifest.js';
import type { TransferProgress } from './stream-copies.js';
import { checkCopy, readCopy } from './stream-files.js';
import { restoreStream } from './stream-restore.js';

/**
 * Restores a backup onto a server without an installation.
 *
 * Each stream is restored completely, or deleted and restored again. An interrupted restore can be resumed; until it is done
 * the server is marked, and no service starts.
 */
interface RestoreOptions {
  readonly directory: string;
  /** Resume an interrupted restore of this backup. */
  readonly again: boolean;
  /** Default: as in the backup. */
  readonly replicas?: number | undefined;
  readonly timeoutMs: number;
  readonly onProgress?: (progress: TransferProgress, step: 'check' | 'restore') => void;
}

interface Restored {
  readonly manifest: BackupManifest;
  /** Streams restored by an earlier run. */
  readonly kept: number;
  /** Streams with fewer messages than their copy: these were removed during the copy, or have expired. */
  readonly fewer: readonly { readonly stream: string; readonly missing: number }[];
}

/** Retries if a service creates the bucket in the moment in which there is none. */
const BUCKET_TRIES = 5;

/**
 * @throws ThroughlineError `not_found` without a backup, `config_invalid` for a damaged file or a server that has streams of
 * Throughline already, `unavailable` if the server is lost
 */
export async function restore(connection: NatsConnection, options: RestoreOptions): Promise<Restored> {
  const { directory, timeoutMs } = options;
  const manifest = await readManifest(directory);
  requireOwn(manifest, directory);
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const publisher = new AckedPublisher(connection, timeoutMs);
  try {
    const there = await admitted(jsm, { ...options, id: manifest.id, at: manifest.at });
    await checkAll(manifest, options);
    const isWhole = await isOpen(jsm);
    await markRestoring({ jsm, publisher }, manifest.id, options.replicas ?? 1);
    const done = isWhole
      ? { kept: manifest.streams.length, fewer: [] }
      : await restoreAll({ connection, jsm }, manifest, there, options);
    const stored = manifest.streams.find(({ name }) => name === DISPATCH_STREAM);
    const dispatch = ownConfig(DISPATCH_STREAM, stored?.config ?? {});
    // Consumers with a filter need the real subjects. Services still wait for the bucket.
    await openDispatch(jsm, dispatch);
    await makeConsumers(jsm, manifest);
    // Otherwise retention would remove old data before anyone has looked at it.
    await new NatsRetentionStore(
      new KvBucket(connection, { replicas: options.replicas ?? 1, timeoutMs }),
    ).changeRules((rules) => (rules.rules.length === 0 ? rules : { ...rules, paused: true }));
    await restoreBucket({ connection, jsm }, manifest, options);
    await unmarkDispatch(jsm, dispatch);
    return { manifest, ...done };
  } catch (error) {
    throw toThroughlineError(error, 'restoring');
  } finally {
    publisher.close();
  }
}

/** Returns the existing streams if a restore may start or resume. */
async function admitted(
  jsm: JetStreamManager,
  begin: Omit<RestoreBegin, 'there' | 'marked'>,
): Promise<ReadonlySet<string>> {
  const there = await ownStreams(jsm);
  if (there.length === 0) return new Set();
  const refusal = restoreRefusal({ ...begin, there, marked: await restoredNow(jsm) });
  if (refusal !== undefined) throw refusal;
  return new Set(there);
}

async function checkAll({ streams }: BackupManifest, options: RestoreOptions): Promise<void> {
  const { directory, onProgress = () => {} } = options;
  let bytes = 0;
  for (const [index, stream] of streams.entries()) {
    await checkCopy(directory, stream);
    bytes += stream.bytes;
    onProgress({ streams: index + 1, of: streams.length, bytes }, 'check');
  }
}

interface Server {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
}

async function restoreAll(
  server: Server,
  manifest: BackupManifest,
  there: ReadonlySet<string>,
  options: RestoreOptions,
): Promise<Omit<Restored, 'manifest'>> {
  const { onProgress = () => {} } = options;
  const fewer: { stream: string; missing: number }[] = [];
  let [kept, done, bytes] = [0, 0, 0];
  const wanted = new Map(manifest.streams.map((stream) => [stream.name, stream]));
  wanted.delete(INSTALLATION_STREAM);
  const tell = () => onProgress({ streams: done, of: wanted.size, bytes }, 'restore');
  // Sequential: nats-server 2.15.0 crashes if one restore creates a stream while another counts them.
  for (const [name, stored] of wanted) {
    const before = there.has(name) ? await wholeOrRemoved(server.jsm, stored) : undefined;
    if (before !== undefined) kept += 1;
    const onPiece = (piece: number) => {
      bytes += piece;
      tell();
    };
    const state = before ?? (await restoreOne(server, manifest, stored, options, onPiece));
    const missing = stored.messages - state.messages;
    if (missing > 0) fewer.push({ stream: name, missing });
    done += 1;
    tell();
  }
  return { kept, fewer };
}

/** Returns the state of a stream that was restored before; deletes an incomplete one. */
async function wholeOrRemoved(
  jsm: JetStreamManager,
  { name, lastSequence }: StoredStream,
): Promise<StreamState | undefined> {
  const { state } = await jsm.streams.info(name);
  if (state.last_seq >= lastSequence) return state;
  await jsm.streams.delete(name);
  return undefined;
}

async function restoreOne(
  { connection, jsm }: Server,
  { id }: BackupManifest,
  stored: StoredStream,
  { directory, replicas }: RestoreOptions,
  onPiece: (bytes: number) => void,
): Promise<StreamState> {
  const { name, firstSequence, lastSequence, messages } = stored;
  const config = {
    ...ownConfig(name, stored.config),
    ...(replicas !== undefined && { num_replicas: replicas }),
  };
  const told = async function* () {
    for await (const piece of readCopy(directory, stored)) {
      yield piece;
      onPiece(piece.length);
    }
  };
  const state = await restoreStream(
    connection,
    {
      config: name === DISPATCH_STREAM ? closedDispatch(config, id) : config,
      state: { first_seq: firstSequence, last_seq: lastSequence, messages },
    },
    told(),
  );
  // A copy may contain consumers, which would deliver to anyone.
  if (state.consumer_count > 0)
    for await (const consumer of jsm.consumers.list(name)) await jsm.consumers.delete(name, consumer.name);
  if (state.last_seq >= lastSequence) return state;
  throw new ThroughlineError(
    'internal',
    `stream ${name} was restored up to ${state.last_seq}, and its copy goes up to ${lastSequence}: run it again with --again`,
  );
}

/** Creates the consumers at the first dispatch that they had not acknowledged when the backup began. */
async function makeConsumers(jsm: JetStreamManager, { consumers }: BackupManifest): Promise<void> {
  for (const { config, start } of consumers) {
    const own = ownConsumer(config);
    const from = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start };
    if (own !== undefined) await jsm.consumers.add(DISPATCH_STREAM, { ...own, ...from });
  }
}

/** Replaces the placeholder by the real bucket: from then on services can start. */
async function restoreBucket(
  server: Server,
  manifest: BackupManifest,
  options: RestoreOptions,
): Promise<void> {
  const stored = manifest.streams.find(({ name }) => name === INSTALLATION_STREAM);
  for (let left = BUCKET_TRIES; ; left -= 1) {
    if (await isMark(server.jsm)) await server.jsm.streams.delete(INSTALLATION_STREAM);
    if (stored === undefined) return;
    try {
      await restoreOne(server, manifest, stored, options, () => {});
      return;
    } catch (error) {
      const info = await server.jsm.streams.info(INSTALLATION_STREAM).catch(() => undefined);
      if (info === undefined || left === 0) throw error;
      // Restored by the interrupted run, or created by a service meanwhile.
      if (info.state.last_seq >= stored.lastSequence) return;
      await server.jsm.streams.delete(INSTALLATION_STREAM);
    }
  }
}

/** The state of the server and the options of a restore. */
export interface RestoreBegin {
  readonly directory: string;
  /** Id of the backup, and its time. */
  readonly id: string;
  readonly at: string;
  readonly again: boolean;
  readonly there: readonly string[];
  /** Id of the backup that was being restored on the server, if any. */
  readonly marked: string | undefined;
}

/** Removes an installation and nothing else. */
const REMOVE = `nats stream ls --names --all | grep -E '${OWN_STREAMS}' | xargs -n 1 nats stream rm --force`;

/** Returns the reason why a restore may not start or resume, with commands that help; `undefined` if it may. */
export function restoreRefusal(begin: RestoreBegin): ThroughlineError | undefined {
  const { there } = begin;
  const why = there.length === 0 ? undefined : refused(begin);
  if (why === undefined) return undefined;
  return new ThroughlineError('config_invalid', why, { details: { streams: there.length } });
}

function refused({ directory, id, at, again, there, marked }: RestoreBegin): string | undefined {
  const streams = counted(there.length, 'stream');
  const command = `throughline admin restore ${directory}`;
  const erase = `To restore ${directory} in their place, erase them for good as an administrator, then run "${command}":\n  ${REMOVE}`;
  if (marked === id) {
    if (again) return undefined;
    return `a restore of this backup, of ${at}, was cut off or still runs: ${streams} of it are there. To go on, run "${command} --again"`;
  }
  const shown = `${streams} of Throughline (${there.slice(0, 5).join(', ')}${there.length > 5 ? ' …' : ''})`;
  if (marked !== undefined)
    return `another backup was being restored on this server, and there are ${shown}. To go on with that one, run "throughline admin restore DIR --again" with the directory whose ${MANIFEST} has the id ${marked}. ${erase}`;
  const what = again
    ? `no restore was cut off on this server: there are ${shown} already. If the restore had ended, nothing is left to do: start the services with "throughline up" or "throughline admin serve", and look with "throughline doctor".`
    : `the server has ${shown} already: restore into an empty server or account.`;
  return `${what} ${erase}`;
}

/**
 * Marks on the server that a restore is in progress, and of which backup.
 *
 * First a placeholder bucket `throughline` with the layout `restoring` is created: services read it first, and refuse to start.
 * The real bucket replaces it at the end. Until `DISPATCH` is complete it listens on a subject without publishers, so
 * that no result is accepted into a stream that may be restored again. Its own mark is removed last.
 */
const UNUSED_SUBJECT = 'throughline.restoring';

/** Returns the id of the backup that is being restored on a server, if any. */
export async function restoredNow(jsm: JetStreamManager): Promise<string | undefined> {
  for (const name of [INSTALLATION_STREAM, DISPATCH_STREAM]) {
    const found = (await configOf(jsm, name))?.metadata?.[RESTORING_MARK];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Marks the server, unless it is marked already. */
export async function markRestoring(
  { jsm, publisher }: { readonly jsm: JetStreamManager; readonly publisher: AckedPublisher },
  id: string,
  replicas: number,
): Promise<void> {
  if ((await configOf(jsm, INSTALLATION_STREAM)) === undefined)
    await jsm.streams.add({ ...installationStream(replicas), metadata: { [RESTORING_MARK]: id } });
  // The stream keeps the first record.
  const { outcome } = await publisher.publish(LAYOUT_SUBJECT, JSON.stringify(RESTORING), {
    stream: INSTALLATION_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'no_stream')
    throw new ThroughlineError('unavailable', `stream ${INSTALLATION_STREAM} rejects writes`);
}

/** Returns true if the bucket is the placeholder, and not the real one. */
export async function isMark(jsm: JetStreamManager): Promise<boolean> {
  return (await configOf(jsm, INSTALLATION_STREAM))?.metadata?.[RESTORING_MARK] !== undefined;
}

export function closedDispatch(config: StreamConfig, id: string): StreamConfig {
  return { ...config, subjects: [UNUSED_SUBJECT], metadata: { ...config.metadata, [RESTORING_MARK]: id } };
}

/** Makes `DISPATCH` accept results. It stays marked. */
export async function openDispatch(jsm: JetStreamManager, { subjects }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { subjects });
}

/** Returns true if `DISPATCH` accepts results: all logs are whole then, and what it has accepted since must stay. */
async function isOpen(jsm: JetStreamManager): Promise<boolean> {
  return (await configOf(jsm, DISPATCH_STREAM))?.subjects.includes(UNUSED_SUBJECT) === false;
}

export async function unmarkDispatch(jsm: JetStreamManager, { metadata = {} }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { metadata });
}

async function configOf(jsm: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  return (await ifExists(jsm.streams.info(name)))?.config;
}
