import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT, tableUnder } from '../../scripts/docs/pages.js';
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
    const rows = SHIPPED.map(({ name, version, licence, isInstalled, copies }) => {
      const how = [...(isInstalled ? ['installed'] : []), ...copies.map((where) => `copy in the ${where}`)];
      return `| \`${name}\` | ${version} | ${licence} | ${how.join(', ')} |`;
    });
    const byLicence = [...new Set(SHIPPED.map(({ licence = '' }) => licence))].sort().map((licence) => {
      return `${licence} (${SHIPPED.filter((each) => each.licence === licence).length})`;
    });
    const page = `# Licences

The licence of each package that comes with Throughline, which itself is under MIT.

This page is written from \`package-lock.json\`. \`npm run sbom\` writes the same list for machines, in the format CycloneDX.
A test fails for a licence that is not one of these: ${ALLOWED.join(', ')}.

${SHIPPED.length} packages: ${byLicence.join(', ')}.

| package | version | licence | how it comes |
|---|---|---|---|
${rows.join('\n')}

The word vectors in \`dist/words\` are made from all-MiniLM-L6-v2, which is under Apache-2.0; \`LICENSE.txt\` beside them says so.

The texts of those that come as a copy are in \`dist/cli/bin/LICENSES.txt\` and \`dist/inspector/LICENSES.txt\`. Those that
npm installs bring their own. [Dependencies](dependencies.md) says what each is for.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/contributing/licences.md`);
  });

  it('the page of dependencies lists those that npm installs, with their versions', () => {
    const page = readFileSync(`${ROOT}docs/contributing/dependencies.md`, 'utf8');
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
