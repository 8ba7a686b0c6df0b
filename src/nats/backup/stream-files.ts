import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsConnection } from 'nats';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { onDenied } from '../connection/connect-nats.js';
import { onConnectionState } from '../connection/connection-states.js';
import { makeFolder } from '../server/server-version.js';
import { cannotRead, MANIFEST, OWNER_ONLY, STREAMS, type StoredStream } from './backup-manifest.js';

const PIECE_BYTES = 1024 * 1024;

/** Creates the directory of a new backup, mode 0700. Throws ThroughlineError `usage` if it is not empty. */
export async function newDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory, 0o700);
    const there = await readdir(directory);
    if (there.length > 0) throw new ThroughlineError('usage', `${directory} ${heldBy(there)}`);
    await mkdir(join(directory, STREAMS), { mode: 0o700 });
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw cannotWrite(directory, error);
  }
}

function heldBy(there: readonly string[]): string {
  const fix = 'give a directory that is new or empty';
  if (there.includes(MANIFEST)) return `holds a backup already: ${fix}; each backup is whole in itself`;
  if (there.includes(STREAMS)) return `holds a backup that was cut off: remove it with "rm -r", or ${fix}`;
  return `is not empty: ${fix}`;
}

interface WrittenCopy {
  readonly bytes: number;
  readonly sha256: string;
}

export async function writeCopy<T>(
  directory: string,
  file: string,
  work: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<WrittenCopy & { readonly result: T }> {
  const path = join(directory, STREAMS, file);
  const handle = await open(path, 'wx', OWNER_ONLY).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const result = await work(async (piece) => {
      hash.update(piece);
      bytes += piece.length;
      await handle.writeFile(piece).catch((error: unknown) => {
        throw cannotWrite(path, error);
      });
    });
    await handle.sync();
    return { result, bytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

export async function removeCopy(directory: string, file: string): Promise<void> {
  await rm(join(directory, STREAMS, file), { force: true });
}

/** Removes everything that a backup created in the directory. */
export async function emptyDirectory(directory: string): Promise<void> {
  await rm(join(directory, STREAMS), { recursive: true, force: true });
}

export async function* readCopy(directory: string, { file }: StoredStream): AsyncGenerator<Uint8Array> {
  const path = join(directory, STREAMS, file);
  try {
    yield* createReadStream(path, { highWaterMark: PIECE_BYTES });
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** @throws ThroughlineError `config_invalid`, with the file's name, if it differs from what was written */
export async function checkCopy(directory: string, stored: StoredStream): Promise<void> {
  const path = join(directory, STREAMS, stored.file);
  const damaged = (what: string) =>
    new ThroughlineError(
      'config_invalid',
      `${path} is damaged: ${what}. Nothing was restored: use another backup, or another copy of this file`,
    );
  const { size } = await stat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') throw damaged('it is missing');
    throw cannotRead(path, error);
  });
  if (size !== stored.bytes) throw damaged(`it has ${size} bytes, and not ${stored.bytes}`);
  const hash = createHash('sha256');
  for await (const piece of readCopy(directory, stored)) hash.update(piece);
  if (hash.digest('hex') !== stored.sha256) throw damaged('its SHA-256 is not that of the backup');
}

function cannotWrite(path: string, error: unknown): ThroughlineError {
  const why = systemCode(error) ?? 'unknown';
  return new ThroughlineError('store_unusable', `${path} cannot be written (${why})`, { cause: error });
}

/** Ends a transfer that cannot be resumed. */
interface TransferGuard {
  /** Rejects when the connection is lost, the server denies a subject, or the peer is silent for too long. */
  readonly failed: Promise<never>;
  /** Restarts the timeout, optionally with another limit in milliseconds. */
  heard(silenceMs?: number): void;
  fail(error: unknown): void;
  release(): void;
}

/**
 * Supervises a transfer.
 *
 * @param doing describes the transfer in errors
 * @param silenceMs longest silence of the peer
 * @param isOurs returns true if a denied subject belongs to the transfer
 */
export function transferGuard(
  connection: NatsConnection,
  doing: string,
  silenceMs: number,
  isOurs: (subject: string) => boolean,
): TransferGuard {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // It may reject after the transfer has ended.
  failed.catch(() => {});
  const gone = (why: string) => fail(new ThroughlineError('unavailable', `${doing}: ${why}`));
  const wait = (ms: number) => setTimeout(() => gone(`the server said nothing for ${ms} ms`), ms);
  let silence = wait(silenceMs);
  const releases = [
    onDenied(connection, ({ subject, fault }) => {
      if (isOurs(subject)) fail(fault);
    }),
    onConnectionState(connection, (connected) => {
      if (!connected) gone('the connection to the server was lost');
    }),
  ];
  return {
    failed,
    heard(ms = silenceMs) {
      clearTimeout(silence);
      silence = wait(ms);
    },
    fail,
    release() {
      clearTimeout(silence);
      for (const release of releases) release();
    },
  };
}
