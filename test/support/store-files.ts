import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The files below a folder that hold a text, byte for byte, by their paths within it. */
export async function filesHolding(folder: string, text: string): Promise<string[]> {
  const holding: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // What a server removes in the background holds nothing any more.
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (bytes.includes(text)) holding.push(path.slice(folder.length + 1));
  }
  return holding.sort();
}
