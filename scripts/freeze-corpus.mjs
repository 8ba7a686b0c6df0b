// Writes a session and a project as this version stores them: events, a snapshot of their first part, and the state that
// all events give, in test/fixtures/<what>/<version of package.json>. Every later version must read what a released one
// has frozen. Until its release, a version may change its formats, and is frozen again.
//
//   npm run build && node scripts/freeze-corpus.mjs
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

for (const what of ['sessions', 'learnings']) {
  const { default: files } = await import(`./corpus/${what}.mjs`);
  const folder = fileURLToPath(new URL(`../test/fixtures/${what}/${version}/`, import.meta.url));
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  console.log(`${folder}: ${Object.keys(files).join(', ')}`);
}
