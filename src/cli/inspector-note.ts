import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readRegularFile, writePrivateFile } from '../files/user-state.js';

/**
 * Where the inspector of a store's `up` is, for an `up --detach` that finds it running; null where it serves none. It is
 * there before `up` says that it is ready. It holds the token, so only the user who started it may read it.
 */
interface InspectorNote {
  readonly url: string | null;
  /** The process of `up`: a note that another one has left says nothing. */
  readonly pid: number;
}

const NAME = 'throughline-inspector.json';
const MAX_NOTE = 4096;
const POLL_MS = 50;

export function writeInspectorNote(storeDir: string, url: string | null): void {
  const note: InspectorNote = { url, pid: process.pid };
  writePrivateFile(join(storeDir, NAME), JSON.stringify(note));
}

/** The URL of the inspector that a process serves, once it has said so; null where it serves none, or says nothing. */
export async function inspectorOf(storeDir: string, pid: number, withinMs: number): Promise<string | null> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const note = readNote(storeDir);
    if (note?.pid === pid) return note.url;
    if (performance.now() > deadline) return null;
    await sleep(POLL_MS);
  }
}

function readNote(storeDir: string): InspectorNote | undefined {
  const read = readRegularFile(join(storeDir, NAME), MAX_NOTE);
  if (!(read instanceof Buffer)) return undefined;
  try {
    return noteSchema.safeParse(JSON.parse(read.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

const noteSchema = z.object({ url: z.string().nullable(), pid: z.number() });

export function removeInspectorNote(storeDir: string): void {
  rmSync(join(storeDir, NAME), { force: true });
}
