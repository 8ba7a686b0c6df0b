import { readFileSync } from 'node:fs';
import { ERROR_TEXTS } from '../../src/contracts/error-codes.js';
import { jsonSchema } from '../../src/contracts/json-schemas.js';
import { REQUESTS } from '../../src/contracts/requests.js';
import { pythonMethods, pythonTypes } from '../python-types.mjs';
import { endingWith, ROOT, type Written } from './pages.js';

/** What `npm run docs` writes of the Python client: its types, its methods, and its reference. */

const PACKAGE = `${ROOT}clients/python`;
const read = (path: string) => readFileSync(`${PACKAGE}/${path}`, 'utf8');

export function typedFiles(): Written {
  const fixes = Object.entries(ERROR_TEXTS).map(([code, { fix }]) => [code, fix]);
  const types = pythonTypes(jsonSchema, Object.fromEntries(fixes), REQUESTS);
  const folder = 'clients/python/src/throughline_memory';
  return { [`${folder}/types.py`]: types, [`${folder}/methods.py`]: pythonMethods(REQUESTS) };
}

/** The public methods of a class, with the first paragraph of their docstrings. */
function methodsOf(name: string): { signature: string; about: string }[] {
  const source = read('src/throughline_memory/client.py');
  const [, body = ''] =
    new RegExp(`^class ${name}:\\n([\\s\\S]*?)(?=^\\S|$(?![\\s\\S]))`, 'm').exec(source) ?? [];
  const methods = body.matchAll(
    /^ {4}(?:async )?def ([a-z]\w*)\(\s*self,?\s*([^)]*?),?\s*\)[^:]*:\n {8}"""([\s\S]*?)"""/gm,
  );
  return [...methods].map(([, method = '', taken = '', about = '']) => ({
    signature: `${method}(${taken.replace(/\s+/g, ' ').replaceAll('t.', '')})`,
    about: about.replace(/\s+/g, ' ').trim(),
  }));
}

const rows = (name: string) =>
  methodsOf(name).map(({ signature, about }) => `| \`${signature.replaceAll('|', '\\|')}\` | ${about} |`);

export function referencePage(): Written {
  const page = `## Client

| method | what it does |
|---|---|
${rows('Client').join('\n')}

## Session

\`client.session("demo")\` is a handle on a session.

| method | what it does |
|---|---|
${rows('Session').join('\n')}
`;
  return { 'docs/reference/python.md': endingWith('docs/reference/python.md', page) };
}
