// What the package consists of, in the format CycloneDX: `npm run sbom` writes release/throughline-VERSION.cdx.json.
// npm tells name, version, licence and hash of each package of package-lock.json; here it is cut down to those that people
// get. What comes as a copy inside is marked as bundled: `npm sbom --omit dev` would leave it out.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { shippedPackages } from './shipped.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLED = { name: 'cdx:npm:package:bundled', value: 'true' };

export async function componentsOfPackage() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 2 ** 26 });
  const all = JSON.parse(stdout);
  const own = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
  const shipped = new Map(shippedPackages().map((each) => [`${each.name}@${each.version}`, each]));
  const ref = `${own.name}@${own.version}`;
  return {
    ...all,
    // npm takes its name from the folder.
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: own.name } },
    components: all.components
      .filter((each) => shipped.has(each['bom-ref']))
      .map((each) => ({
        ...each,
        properties: shipped.get(each['bom-ref']).copies.length > 0 ? [BUNDLED] : [],
      })),
    dependencies: all.dependencies
      .filter((each) => each.ref === ref || shipped.has(each.ref))
      .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((other) => shipped.has(other)) })),
  };
}

/** Writes it; the path of the file. */
export async function writeSbom() {
  const bom = await componentsOfPackage();
  await mkdir(`${ROOT}release`, { recursive: true });
  const path = `release/throughline-${bom.metadata.component.version}.cdx.json`;
  await writeFile(ROOT + path, `${JSON.stringify(bom, null, 2)}\n`);
  return path;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(await writeSbom());
