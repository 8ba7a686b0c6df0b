// Freezes events, a snapshot of their first part and the state that all of them give, for
// test/fixtures/<what>/<version>. What is frozen must always load, so nothing that exists is written over: a new
// kind of event or a new format gets a new folder.
//
//   npm run build && node scripts/freeze-corpus.mjs sessions v2
//
// A change of the rules by which events are folded gives old events a new state. `--expected` writes that of a folder that
// is there, and leaves its events and its snapshot; test/fixtures/sessions/README.md says why each time.
//
//   npm run build && node scripts/freeze-corpus.mjs sessions v1 --expected
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [what, version, again] = process.argv.slice(2);
if (
  !['sessions', 'learnings'].includes(what) ||
  !/^v[1-9]\d*$/.test(version ?? '') ||
  ![undefined, '--expected'].includes(again)
) {
  throw new Error('usage: node scripts/freeze-corpus.mjs sessions|learnings v<number> [--expected]');
}

const { default: files, expectedState } = await import(`./corpus/${what}.mjs`);
const folder = fileURLToPath(new URL(`../test/fixtures/${what}/${version}/`, import.meta.url));
if (again === undefined) {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: 'wx' });
  console.log(`${folder}: ${Object.keys(files).join(', ')}`);
} else {
  const lines = (await readFile(join(folder, 'events.jsonl'), 'utf8')).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line));
  await writeFile(join(folder, 'expected-state.json'), expectedState(events));
  console.log(`${folder}: expected-state.json`);
}
