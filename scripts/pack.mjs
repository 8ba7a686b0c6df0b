// Packs what is built. npm shows the README on the page of the package and in node_modules, where the pages that it links
// to are not: its links become addresses in the repository of package.json, at the tag of the version.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The page of a repository on the web, from `git+https://HOST/OWNER/NAME.git`; undefined for anything else. */
export function webAddress(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  return /^(?:git\+)?(https:\/\/[^/\s]+\/[^\s]+?)(?:\.git)?$/.exec(url ?? '')?.[1];
}

/** A page of the repository as it is packed: relative links and images lead to the files of a tag. */
export function withAddresses(page, web, tag) {
  const within = new URL(web).hostname.startsWith('gitlab.') ? `${web}/-` : web;
  return page.replace(/(!\[[^\]]*\]|\])\((?![a-z]+:|#)([^)\s]+)\)/g, (_, before, path) => {
    const kind = before.startsWith('!') ? 'raw' : 'blob';
    return `${before}(${within}/${kind}/${tag}/${path})`;
  });
}

/** Packs what is built into a folder; the path of the tarball. */
export async function packedInto(folder, repository) {
  const tarball = await pack(ROOT, folder);
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const from = repository ?? manifest.repository;
  const web = webAddress(from);
  if (web === undefined) return tarball;
  const staged = await mkdtemp(join(tmpdir(), 'throughline-pack-'));
  try {
    await run('tar', ['-xzf', tarball, '-C', staged]);
    const at = (name) => join(staged, 'package', name);
    for (const page of ['README.md', 'CHANGELOG.md']) {
      const text = await readFile(at(page), 'utf8');
      await writeFile(at(page), withAddresses(text, web, `v${manifest.version}`));
    }
    const addresses = { repository: from, homepage: `${web}#readme`, bugs: { url: `${web}/issues` } };
    await writeFile(at('package.json'), `${JSON.stringify({ ...manifest, ...addresses }, null, 2)}\n`);
    return await pack(join(staged, 'package'), folder);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function pack(from, folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: from, maxBuffer: 2 ** 26 });
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}
