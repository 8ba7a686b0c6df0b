import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { JetStreamManager, StreamConfig } from 'nats';
import { z } from 'zod';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import * as names from '../../contracts/names.js';
import { LAYOUT_STREAM, layoutRecord } from '../jetstream/layout-record.js';
import { makeFolder } from '../server/server-version.js';

/** Streams that are copied before those that they derive from or refer to. The layout is part of the manifest. */
export const DERIVED = [
  ...[names.LIFECYCLE_BUCKET, names.SNAPSHOT_BUCKET, names.TELEMETRY_BUCKET, names.INDEX_BUCKET],
].map((bucket) => `KV_${bucket}`);
const SINGLE = [
  ...[...DERIVED, names.PROMPTS_STREAM, names.REJECTED_STREAM],
  ...[names.LEARNINGS_STREAM, names.DISPATCH_STREAM],
];

/** Returns true if a stream holds events of sessions, in either layout. */
export function isSessionLog(stream: string): boolean {
  return names.sessionOfStream(stream) !== undefined || names.shardOfStream(stream) !== undefined;
}

export function isOwnStream(stream: string): boolean {
  return SINGLE.includes(stream) || isSessionLog(stream);
}

/** Returns the streams of an installation on a server, with the record of its layout. */
export async function ownStreams(jsm: JetStreamManager): Promise<string[]> {
  const found: string[] = [];
  for await (const name of jsm.streams.names())
    if (isOwnStream(name) || name === LAYOUT_STREAM) found.push(name);
  return found.sort();
}

/** Written last and atomically: a directory without it holds no complete backup. */
const MANIFEST = 'throughline-backup.json';
/** Folder of the copies. */
const STREAMS = 'streams';
/** A backup contains everything that agents said. */
const OWNER_ONLY = 0o600;

const storedStream = z.object({
  name: z.string(),
  /** Name of its file in `streams`: not a path. */
  file: z.string().regex(/^[A-Za-z0-9_.-]+$/),
  /** JetStream's own JSON. */
  config: z.custom<Partial<StreamConfig>>((value) => typeof value === 'object' && value !== null),
  firstSequence: z.int().nonnegative(),
  lastSequence: z.int().nonnegative(),
  messages: z.int().nonnegative(),
  /** SHA-256 of the file, in hex. */
  sha256: z.string(),
});

const manifestShape = z.object({
  format: z.literal(1),
  /** Versions of Throughline and of the server. */
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
export type StoredStream = z.infer<typeof storedStream>;

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
  const foreign = data.streams.find(({ name }) => !isOwnStream(name));
  if (foreign !== undefined)
    throw unusable(path, `holds the stream ${JSON.stringify(foreign.name)}, which is not one of Throughline`);
  if (!data.streams.some(({ name }) => name === names.DISPATCH_STREAM))
    throw unusable(path, `holds no stream ${names.DISPATCH_STREAM}, without which results would be lost`);
  return data;
}

export async function writeManifest(directory: string, manifest: BackupManifest): Promise<void> {
  const path = join(directory, MANIFEST);
  const file = await open(`${path}.part`, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${JSON.stringify(manifest, undefined, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

/** Creates the directory of a new backup, mode 0700. Throws ThroughlineError `usage` if it is not empty. */
export async function newDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory, 0o700);
    if ((await readdir(directory)).length > 0)
      throw new ThroughlineError('usage', `${directory} is not empty: give a directory that is new or empty`);
    await mkdir(join(directory, STREAMS), { mode: 0o700 });
  } catch (error) {
    throw error instanceof ThroughlineError ? error : cannotWrite(directory, error);
  }
}

/** Writes the file of a copy, and returns its SHA-256. */
export async function writeCopy<T>(
  directory: string,
  name: string,
  work: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<{ readonly sha256: string; readonly result: T }> {
  const path = join(directory, STREAMS, name);
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
  const path = join(directory, STREAMS, file);
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
      join(directory, STREAMS, stored.file),
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
