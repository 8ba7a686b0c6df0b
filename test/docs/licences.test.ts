import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endingWith, ROOT, tableUnder } from '../../scripts/docs/pages.js';
import { licenceText } from '../../scripts/licences.mjs';
import { shippedPackages } from '../../scripts/shipped.mjs';

/** What may be given on with a package under MIT, as long as its text comes along. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];

const SHIPPED = shippedPackages();
const PAGE = 'docs/contributing/dependencies.md';

function manifestOf(name: string): unknown {
  return JSON.parse(readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8'));
}

describe('the licences of what is shipped', () => {
  it('each shipped package has a licence that may be given on', () => {
    expect(SHIPPED.length).toBeGreaterThan(20);
    expect(SHIPPED.filter(({ licence = '' }) => !ALLOWED.includes(licence))).toEqual([]);
  });

  it.each(SHIPPED.map((each) => [each.name, each] as const))(
    '%s says itself the licence and the version that the lock file has, and brings its text',
    async (name, { version, licence }) => {
      expect(manifestOf(name)).toMatchObject({ version, license: licence });
      expect((await licenceText(name)).length).toBeGreaterThan(100);
    },
  );

  it('the reference lists each shipped package with its licence', async () => {
    const names = (installed: boolean, of: string) =>
      SHIPPED.filter(({ licence, isInstalled }) => licence === of && isInstalled === installed)
        .map(({ name, version }) => `\`${name}@${version}\``)
        .join(', ') || '–';
    const rows = [...new Set(SHIPPED.map(({ licence = '' }) => licence))]
      .sort()
      .map((licence) => `| ${licence} | ${names(true, licence)} | ${names(false, licence)} |`);
    const page = `## Licences

Throughline itself is under MIT. A test fails for a licence that is not one of these: ${ALLOWED.join(', ')}. \`npm run sbom\` writes the list
for machines, in the format CycloneDX. The texts of copies are in \`LICENSES.txt\` beside them. The word vectors are made from all-MiniLM-L6-v2, which
is under Apache-2.0. This part of the page is written from \`package-lock.json\`.

| licence | installed | as a copy in the bundles |
|---|---|---|
${rows.join('\n')}
`;
    await expect(endingWith(PAGE, page)).toMatchFileSnapshot(ROOT + PAGE);
  });

  it('the page of dependencies lists those that npm installs, with their versions', () => {
    const page = readFileSync(ROOT + PAGE, 'utf8');
    const rows = tableUnder(page, '## Runtime dependencies').map(([name = '', version]) => [
      name.replaceAll('`', ''),
      version,
    ]);
    const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const direct = SHIPPED.filter(({ name }) => name in dependencies).map(({ name, version }) => [
      name,
      version,
    ]);
    expect(rows.sort()).toEqual(direct.sort());
    const installed = SHIPPED.filter(({ isInstalled }) => isInstalled).length;
    expect(page).toContain(`${installed} packages in all`);
  });
});
