import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the inspector of a store's `up` is, for an `up --detach` that finds it running. It holds the token, so only the
 * user who started it may read it.
 */
interface InspectorNote {
  readonly url: string;
  /** The process of `up`: a note that another one has left says nothing. */
  readonly pid: number;
}

const NAME = 'throughline-inspector.json';

export function writeInspectorNote(storeDir: string, url: string): void {
  const note: InspectorNote = { url, pid: process.pid };
  const draft = join(storeDir, `throughline-inspector.${randomBytes(6).toString('hex')}.draft`);
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
  renameSync(draft, join(storeDir, NAME));
}

/** The URL of the inspector that a process serves; undefined where it serves none. */
export function readInspectorNote(storeDir: string, pid: number): string | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(join(storeDir, NAME), 'utf8'));
    const isNote = typeof note === 'object' && note !== null && 'url' in note && 'pid' in note;
    return isNote && note.pid === pid && typeof note.url === 'string' ? note.url : undefined;
  } catch {
    return undefined;
  }
}

export function removeInspectorNote(storeDir: string): void {
  rmSync(join(storeDir, NAME), { force: true });
}
