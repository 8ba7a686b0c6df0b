// The compiler declares every module; only what the entry points lead to is of use to others. The rest would be a third
// of the files that people install.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const reached = new Set();
const left = Object.values(exports).flatMap(({ types }) =>
  types === undefined ? [] : [resolve(root, types)],
);
while (left.length > 0) {
  const file = left.pop();
  if (reached.has(file)) continue;
  reached.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g,
  )) {
    const named = resolve(file, '..', `${path}.d.ts`);
    if (existsSync(named)) left.push(named);
  }
}
for (const name of readdirSync(join(root, 'dist'), { recursive: true })) {
  const file = join(root, 'dist', name);
  if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}
