/** The kind of a file, by its path: similar tasks touch the same kinds. */
export const FILE_CLASSES = ['src', 'test', 'docs', 'config', 'ci', 'manifest', 'lock', 'changelog'] as const;
export type FileClass = (typeof FILE_CLASSES)[number];

/** Most results touch these, whatever their subject, so that they say nothing about it. */
export const BUSY: ReadonlySet<FileClass> = new Set(['lock', 'manifest', 'changelog']);

/** The first match wins; others are source. */
const PATTERNS: readonly (readonly [FileClass, RegExp])[] = [
  [
    'lock',
    /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|go\.sum|cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|gemfile\.lock)$/,
  ],
  [
    'manifest',
    /(?:^|\/)(?:package\.json|jsr\.json|deno\.jsonc?|lerna\.json|go\.mod|cargo\.toml|pyproject\.toml|setup\.py|setup\.cfg|requirements[^/]{0,30}\.txt|composer\.json|gemfile|pom\.xml|build\.gradle)$/,
  ],
  ['changelog', /(?:^|\/)(?:changelog|changes|history|releases?)(?:\.[a-z]{1,8})?$/],
  ['ci', /^\.github\/|^\.circleci\/|^\.gitlab-ci|^\.travis|(?:^|\/)jenkinsfile$/],
  [
    'test',
    /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testdata|fixtures|runtime[-_]tests?)\/|[._-](?:test|spec)\.[a-z]{1,5}$|(?:^|\/)test_[^/]{1,100}\.py$/,
  ],
  ['docs', /\.(?:md|mdx|rst|txt|adoc)$|(?:^|\/)docs?\//],
  [
    'config',
    /\.(?:json|jsonc|ya?ml|toml|ini|cfg)$|\.config\.[a-z]{1,5}$|(?:^|\/)\.[^/]{1,60}$|(?:^|\/)(?:makefile|dockerfile)$/,
  ],
];

export function fileClass(path: string): FileClass {
  const plain = path.toLowerCase();
  return PATTERNS.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'src';
}
