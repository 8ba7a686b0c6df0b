import { webAddress } from './pack.mjs';

/**
 * Why a version cannot be published, each with what to do about it; none where everything agrees. Values in, values out:
 * `publish.mjs` reads them from the repository.
 */
export function releaseProblems({ manifest, server, changelog, changes, tags, tool }) {
  const { version, repository, publishConfig } = manifest;
  const tag = `v${version}`;
  const served = [server.version, ...server.packages.map((each) => each.version)];
  return [
    changes.length > 0 &&
      `the work tree has ${changes.length} changed or new files, ${changes[0]} first: commit them, or take them back`,
    !headings(changelog).includes(version) &&
      `CHANGELOG.md has no heading "## ${version}": move what is under "Unreleased" there, with the date`,
    !tags.includes(tag) && `the newest commit has no tag ${tag}: git tag ${tag}`,
    served.some((each) => each !== version) &&
      `server.json says version ${served.join(' and ')}: set ${version}, as package.json has it`,
    webAddress(repository) === undefined &&
      `package.json has ${repository === undefined ? 'no repository' : `the repository ${JSON.stringify(repository)}`}: set "repository": {"type": "git", "url": "git+https://HOST/OWNER/NAME.git"} to the public repository that the package is built from; provenance needs it, and homepage, bugs and the links of the README come from it`,
    publishConfig?.access !== 'public' && 'package.json has no "publishConfig": {"access": "public"}',
    Number(tool.split('.')[0]) < 10 && `npm is ${tool}: 10 or newer is needed, npm install -g npm`,
  ].filter((problem) => problem !== false);
}

/** The versions that a changelog has, as in `## 1.2.0 – 2026-11-23` or `## [1.2.0]`. */
function headings(changelog) {
  return [...changelog.matchAll(/^## \[?([^\]\s]+)/gm)].map(([, version]) => version);
}
