import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConsumerConfig, StreamConfig } from 'nats';
import { z } from 'zod';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';

/**
 * What a backup holds. Written last and in one step: a directory without it holds no backup, or one that was cut off.
 */
export const MANIFEST = 'throughline-backup.json';
/** Where the copies stand, beside the manifest. */
export const STREAMS = 'streams';
/** Another number for each change that an earlier version cannot read. */
const FORMAT = 1;

/** What JetStream says of itself is handed back as it came. */
const asTheServerSaid = <T extends object>() =>
  z.custom<T>((value) => typeof value === 'object' && value !== null);

const storedStream = z.object({
  name: z.string(),
  /** Name of its file below `streams`: no path. */
  file: z.string().regex(/^[A-Za-z0-9_.-]+$/),
  config: asTheServerSaid<StreamConfig & { name: string }>(),
  firstSequence: z.int().nonnegative(),
  lastSequence: z.int().nonnegative(),
  messages: z.int().nonnegative(),
  /** Size of the file, and its SHA-256 in hexadecimal digits. */
  bytes: z.int().nonnegative(),
  sha256: z.string(),
});

const manifestShape = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  /** Version of Throughline and of the server that made it. */
  version: z.string(),
  server: z.string(),
  /** When it began, ISO 8601 in UTC. */
  at: z.iso.datetime(),
  layout: z.union([
    z.object({ layout: z.literal('per-session') }),
    z.object({ layout: z.literal('sharded'), shards: z.int().positive() }),
  ]),
  /** Consumers of `DISPATCH`, and the first dispatch that each had still to deal with when the backup began. */
  consumers: z.array(z.object({ config: asTheServerSaid<ConsumerConfig>(), start: z.int().positive() })),
  streams: z.array(storedStream),
});

export type BackupManifest = z.infer<typeof manifestShape>;
export type StoredStream = z.infer<typeof storedStream>;

/** @throws ThroughlineError `not_found` without a whole backup, `config_invalid` for one that cannot be read */
export async function readManifest(directory: string): Promise<BackupManifest> {
  const path = join(directory, MANIFEST);
  let text: Buffer;
  try {
    text = await readFile(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw cannotRead(path, error);
    throw new ThroughlineError(
      'not_found',
      `${directory} holds no whole backup: ${MANIFEST}, which is written last, is missing. Give the directory of a backup that "throughline backup" has finished`,
    );
  }
  const json = jsonOf(text);
  const { data } = manifestShape.safeParse(json);
  if (data !== undefined) return data;
  const { data: newer } = z.object({ format: z.number().gt(FORMAT) }).safeParse(json);
  throw new ThroughlineError(
    'config_invalid',
    newer === undefined
      ? `${path} is damaged: use another backup`
      : `${path} has format ${newer.format}, and this version reads ${FORMAT}: update throughline`,
  );
}

export async function writeManifest(
  directory: string,
  manifest: Omit<BackupManifest, 'format'>,
): Promise<void> {
  const path = join(directory, MANIFEST);
  const file = await open(`${path}.part`, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

/** A backup holds everything that agents said. */
export const OWNER_ONLY = 0o600;

export function cannotRead(path: string, error: unknown): ThroughlineError {
  const why = systemCode(error) ?? 'unknown';
  return new ThroughlineError('config_invalid', `${path} cannot be read (${why})`, { cause: error });
}
