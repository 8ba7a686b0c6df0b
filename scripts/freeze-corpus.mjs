// Freezes events, a snapshot of their first part and the state that all of them give, for
// test/fixtures/<what>/<version>. What is frozen must always load, so nothing that exists is written over: a new
// kind of event or a new format gets a new folder.
//
//   npm run build && node scripts/freeze-corpus.mjs sessions v2
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [what, version] = process.argv.slice(2);
if (!['sessions', 'learnings'].includes(what) || !/^v[1-9]\d*$/.test(version ?? '')) {
  throw new Error('usage: node scripts/freeze-corpus.mjs sessions|learnings v<number>');
}

const { default: files } = await import(`./corpus/${what}.mjs`);
const folder = fileURLToPath(new URL(`../test/fixtures/${what}/${version}/`, import.meta.url));
await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: 'wx' });
console.log(`${folder}: ${Object.keys(files).join(', ')}`);
