import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { webAddress, withAddresses } from '../../scripts/pack.mjs';

const WEB = 'https://github.com/owner/name';

it.each([
  ['git+https://github.com/owner/name.git', WEB],
  ['https://github.com/owner/name', WEB],
  ['git@github.com:owner/name.git', undefined],
  [undefined, undefined],
])('the page of the repository %s is %s', (url, web) => {
  expect(webAddress(url)).toBe(web);
  expect(webAddress(url === undefined ? undefined : { type: 'git', url })).toBe(web);
});

it('a packed page links to the files of its version: pages as pages, images as bytes', () => {
  const page = 'See [it](docs/a.md#b), [web](https://example.com), [here](#c).\n![Picture](docs/a.svg)\n';
  expect(withAddresses(page, WEB, 'v1.2.0')).toBe(
    `See [it](${WEB}/blob/v1.2.0/docs/a.md#b), [web](https://example.com), [here](#c).\n![Picture](${WEB}/raw/v1.2.0/docs/a.svg)\n`,
  );
  expect(withAddresses('[it](LICENSE)', 'https://gitlab.com/o/n', 'v1')).toBe(
    '[it](https://gitlab.com/o/n/-/blob/v1/LICENSE)',
  );
});

it('the packed README has no relative link', () => {
  const packed = withAddresses(readFileSync(`${ROOT}README.md`, 'utf8'), WEB, 'v1.2.0');
  expect(packed.match(/\]\((?!https:)[^)]*\)/g)).toBeNull();
  expect(packed.match(/!\[[^\]]*\]\(https:[^)]*\/raw\/v1\.2\.0\/docs\/images\//g)?.length).toBeGreaterThan(1);
});
