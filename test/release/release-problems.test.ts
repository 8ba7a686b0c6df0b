import { expect, it } from 'vitest';
import { type ReleaseState, releaseProblems } from '../../scripts/release-problems.mjs';

const READY: ReleaseState = {
  manifest: {
    version: '1.2.0',
    repository: { url: 'git+https://example.com/throughline.git' },
    publishConfig: { access: 'public' },
  },
  server: { version: '1.2.0', packages: [{ version: '1.2.0' }] },
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.0 – 2026-11-23\n\n- Words.\n\n## [1.1.0]\n',
  changes: [],
  tags: ['latest', 'v1.2.0'],
  tool: '11.19.1',
};

it('a version is published where work tree, changelog, tag and settings agree', () => {
  expect(releaseProblems(READY)).toEqual([]);
});

it.each<[name: string, state: Partial<ReleaseState>, says: RegExp]>([
  ['a changed file', { changes: ['src/index.ts'] }, /1 changed or new files, src\/index\.ts first: commit/],
  ['no entry in the changelog', { changelog: '## Unreleased\n\n## 1.2\n' }, /no heading "## 1\.2\.0": move/],
  ['the tag of another version', { tags: ['v1.1.0'] }, /no tag v1\.2\.0: git tag v1\.2\.0/],
  [
    'another version for the registry of MCP servers',
    { server: { version: '1.2.0', packages: [{ version: '1.1.0' }] } },
    /server\.json says version 1\.2\.0 and 1\.1\.0: set 1\.2\.0/,
  ],
  [
    'no repository',
    { manifest: { version: '1.2.0', publishConfig: { access: 'public' } } },
    /has no repository: set "repository".* homepage, bugs and the links of the README come from it/,
  ],
  [
    'a repository that no browser opens',
    { manifest: { ...READY.manifest, repository: 'git@example.com:throughline.git' } },
    /has the repository "git@example\.com:throughline\.git": set "repository"/,
  ],
  ['no public access', { manifest: { ...READY.manifest, publishConfig: {} } }, /"access": "public"/],
  ['an npm that knows no provenance', { tool: '9.4.0' }, /npm is 9\.4\.0: 10 or newer/],
])('a version is not published with %s, and it is said what to do', (_, state, says) => {
  const problems = releaseProblems({ ...READY, ...state });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(says);
});

it('all that is missing is said at once', () => {
  const none = { ...READY, changes: ['a', 'b'], tags: [], changelog: '' };
  expect(releaseProblems(none)).toHaveLength(3);
});
