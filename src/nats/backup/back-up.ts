import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JetStreamManager, NatsConnection, StreamConfig } from 'nats';
import { z } from 'zod';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER, PER_SESSION } from '../../contracts/names.js';
import { jsonOf } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { LAYOUT_STREAM, layoutRecord, readLayout } from '../jetstream/layout-record.js';
import { isSessionLog, STREAMS, subjectsOf } from '../jetstream/topology.js';
import { makeFolder } from '../server/server-version.js';
import { snapshotStream } from './stream-transfer.js';

interface BackupOptions {
  readonly directory: string;
  /** Start time, ISO 8601 in UTC. */
  readonly at: string;
  readonly version: string;
  readonly timeoutMs: number;
  readonly onProgress?: (streams: number, of: number) => void;
}

/**
 * Copies a whole installation into a directory while it runs.
 *
 * The order makes the copy consistent. Consumer positions are read first: acknowledged dispatches are in the streams copied
 * later, and others are redelivered after a restore and count once. Derived streams are copied before their sources: records
 * and snapshots before logs, logs before `DISPATCH`. So each event has its dispatch, and a session that is being archived or
 * forgotten at the start still is after a restore. One that is forgotten later may be in the copy.
 *
 * @throws ThroughlineError `usage` if the directory is not empty, `not_found` without an installation, `unavailable` if the
 * server is lost (the directory then holds no backup)
 */
export async function backUp(
  connection: NatsConnection,
  { directory, at, version, timeoutMs, onProgress = () => {} }: BackupOptions,
): Promise<BackupManifest & { readonly bytes: number }> {
  try {
    const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const layout = (await readLayout({ connection, timeoutMs })) ?? PER_SESSION;
    const there = await ownStreams(jsm);
    if (!there.includes(DISPATCH_STREAM))
      throw new ThroughlineError('not_found', `there is nothing to back up: no stream ${DISPATCH_STREAM}`);
    await newDirectory(directory);
    const extractor = await ifExists(jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER));
    const start = (extractor?.ack_floor.stream_seq ?? 0) + 1;
    const streams: StoredStream[] = [];
    let bytes = 0;
    const copy = async (name: string) => {
      const file = `${String(streams.length).padStart(6, '0')}-${name}.snapshot`;
      const { result, sha256 } = await writeCopy(directory, file, (write) =>
        snapshotStream(connection, name, async (piece) => {
          await write(piece);
          bytes += piece.length;
          onProgress(streams.length, there.length);
        }),
      );
      // The stream may have been removed since it was listed; the next copy replaces its empty file.
      if (result === undefined) return;
      streams.push({ name, file, sha256, ...result });
    };
    // A rejection is stored before its event, and learnings refer to events of sessions.
    for (const name of STREAMS.keys()) if (name !== DISPATCH_STREAM && there.includes(name)) await copy(name);
    // Listed again: a session in the snapshots may be newer than the first list.
    for (const name of await ownStreams(jsm)) if (isSessionLog(name)) await copy(name);
    await copy(DISPATCH_STREAM);
    const server = connection.info?.version ?? 'unknown';
    const manifest = { format: 1, version, server, at, layout, start, streams } as const;
    const path = join(directory, MANIFEST);
    const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
    await writeFile(`${path}.part`, text, { flag: 'wx', mode: OWNER_ONLY, flush: true });
    await rename(`${path}.part`, path);
    return { ...manifest, bytes };
  } catch (error) {
    throw toThroughlineError(error, 'backing up');
  }
}

/** Returns the streams of an installation on a server, with the record of its layout. */
export async function ownStreams(jsm: JetStreamManager): Promise<string[]> {
  const found: string[] = [];
  for await (const name of jsm.streams.names())
    if (subjectsOf(name) !== undefined || name === LAYOUT_STREAM) found.push(name);
  return found.sort();
}

/** Written last and atomically: a directory without it holds no complete backup. */
const MANIFEST = 'throughline-backup.json';
const FOLDER = 'streams';
/** A backup contains everything that agents said. */
const OWNER_ONLY = 0o600;

const storedStream = z.object({
  name: z.string(),
  /** Name of its file in `streams`: not a path. */
  file: z.string().regex(/^[A-Za-z0-9_.-]+$/),
  config: z.custom<Partial<StreamConfig>>((value) => typeof value === 'object' && value !== null),
  state: z.object({
    first_seq: z.int().nonnegative(),
    last_seq: z.int().nonnegative(),
    messages: z.int().nonnegative(),
  }),
  /** SHA-256 of the file, in hex. */
  sha256: z.string(),
});

const manifestShape = z.object({
  format: z.literal(1),
  version: z.string(),
  server: z.string(),
  /** Start time, ISO 8601 in UTC. */
  at: z.iso.datetime(),
  layout: layoutRecord,
  /** The first dispatch that the extractors had not acknowledged at the start. */
  start: z.int().positive(),
  streams: z.array(storedStream),
});

export type BackupManifest = z.infer<typeof manifestShape>;
type StoredStream = z.infer<typeof storedStream>;

/** @throws ThroughlineError `not_found` without a complete backup, `config_invalid` if it is not one of an installation */
export async function readManifest(directory: string): Promise<BackupManifest> {
  const path = join(directory, MANIFEST);
  const text = await readFile(path).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw cannotRead(path, error);
    throw new ThroughlineError(
      'not_found',
      `${directory} holds no whole backup: ${MANIFEST}, which is written last, is missing. Give the directory of a backup that "throughline admin backup" has finished`,
    );
  });
  const { data } = manifestShape.safeParse(jsonOf(text));
  if (data === undefined) throw unusable(path, 'is damaged, or of another version of Throughline');
  const foreign = data.streams.find(({ name }) => subjectsOf(name) === undefined);
  if (foreign !== undefined)
    throw unusable(path, `holds the stream ${JSON.stringify(foreign.name)}, which is not one of Throughline`);
  if (!data.streams.some(({ name }) => name === DISPATCH_STREAM))
    throw unusable(path, `holds no stream ${DISPATCH_STREAM}, without which results would be lost`);
  return data;
}

/** Creates the directory of a new backup, mode 0700. Throws ThroughlineError `usage` if it is not empty. */
export async function newDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory, 0o700);
    if ((await readdir(directory)).length > 0)
      throw new ThroughlineError('usage', `${directory} is not empty: give a directory that is new or empty`);
    await mkdir(join(directory, FOLDER), { mode: 0o700 });
  } catch (error) {
    throw error instanceof ThroughlineError ? error : cannotWrite(directory, error);
  }
}

async function writeCopy<T>(
  directory: string,
  name: string,
  work: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<{ readonly sha256: string; readonly result: T }> {
  const path = join(directory, FOLDER, name);
  const failed = (error: unknown) => {
    throw cannotWrite(path, error);
  };
  const file = await open(path, 'wx', OWNER_ONLY).catch(failed);
  const hash = createHash('sha256');
  try {
    const result = await work(async (piece) => {
      hash.update(piece);
      await file.writeFile(piece).catch(failed);
    });
    await file.sync();
    return { result, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

export async function* readCopy(directory: string, { file }: StoredStream): AsyncGenerator<Uint8Array> {
  const path = join(directory, FOLDER, file);
  try {
    yield* createReadStream(path, { highWaterMark: 1024 * 1024 });
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** @throws ThroughlineError `config_invalid`, with the file's name, if it differs from what was written */
export async function checkCopy(directory: string, stored: StoredStream): Promise<void> {
  const hash = createHash('sha256');
  for await (const piece of readCopy(directory, stored)) hash.update(piece);
  if (hash.digest('hex') !== stored.sha256)
    throw unusable(
      join(directory, FOLDER, stored.file),
      'is damaged: it has another SHA-256 than when it was written',
    );
}

function cannotRead(path: string, error: unknown): ThroughlineError {
  return unusable(path, `cannot be read (${systemCode(error) ?? 'unknown'})`);
}

function cannotWrite(path: string, error: unknown): ThroughlineError {
  const why = systemCode(error) ?? 'unknown';
  return new ThroughlineError('store_unusable', `${path} cannot be written (${why})`, { cause: error });
}

function unusable(path: string, why: string): ThroughlineError {
  return new ThroughlineError('config_invalid', `${path} ${why}. Nothing was restored: use another backup`);
}
