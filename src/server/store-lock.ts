import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ThroughlineError } from '../errors.js';
import { portProblem } from './ports.js';
import { askServer } from './ready.js';

/**
 * Two servers on one store overwrite each other's messages, so each leaves a note of itself there. A note counts only
 * while its process lives and its server answers under its name, or keeps its port without an answer, as one does that
 * stands still or waits for a TLS handshake: what a crash left behind locks nobody out.
 */
const NOTE = 'throughline-server.json';
const ANSWER_WITHIN_MS = 500;

const noteSchema = z.object({ pid: z.number(), host: z.string(), port: z.number(), serverName: z.string() });
export type StoreNote = z.infer<typeof noteSchema>;

/** Writes the note of a server that is ready. */
export async function noteServer(storeDir: string, note: StoreNote): Promise<void> {
  await writeFile(join(storeDir, NOTE), JSON.stringify(note));
}

/** @throws ThroughlineError `config_invalid` that names the process which uses the store */
export async function requireFreeStore(storeDir: string): Promise<void> {
  const note = await readNote(storeDir);
  if (note === undefined || !isAlive(note.pid)) return;
  const info = await askServer(note.host, note.port, ANSWER_WITHIN_MS);
  const isUsed = info === undefined ? await isTaken(note) : info.server_name === note.serverName;
  if (!isUsed) return;
  throw new ThroughlineError(
    'config_invalid',
    `the store ${storeDir} is in use by the nats-server at ${note.host}:${note.port}, process ${note.pid}: ` +
      `stop it ("kill ${note.pid}"), use it (NATS_URL=nats://${note.host}:${note.port}), or choose another with --store`,
    { details: { ...note } },
  );
}

async function isTaken({ host, port }: StoreNote): Promise<boolean> {
  return (await portProblem(host, port)) === 'EADDRINUSE';
}

async function readNote(storeDir: string): Promise<StoreNote | undefined> {
  try {
    return noteSchema.safeParse(JSON.parse(await readFile(join(storeDir, NOTE), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else may not be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
