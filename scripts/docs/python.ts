import { readFileSync } from 'node:fs';
import { ERROR_TEXTS } from '../../src/contracts/error-codes.js';
import { jsonSchema } from '../../src/contracts/json-schemas.js';
import { pythonTypes } from '../python-types.mjs';
import { endingWith, ROOT, type Written } from './pages.js';

/** What `npm run docs` writes of the Python client: its types, and its reference. */

const PACKAGE = `${ROOT}clients/python`;
const read = (path: string) => readFileSync(`${PACKAGE}/${path}`, 'utf8');

export function typesFile(): Written {
  const fixes = Object.entries(ERROR_TEXTS).map(([code, { fix }]) => [code, fix]);
  return {
    'clients/python/src/throughline_memory/types.py': pythonTypes(jsonSchema, Object.fromEntries(fixes)),
  };
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
    signature: `${method}(${taken
      .replace(/\s+/g, ' ')
      .replaceAll('t.', '')
      .replace(/: Unpack\[\w+\]/, '')})`,
    about: `${about.replace(/\s+/g, ' ').trim()}${optionsOf(taken)}`,
  }));
}

/** The names that a method takes as further options, from their type. */
function optionsOf(taken: string): string {
  const [, type] = /Unpack\[t\.(\w+)\]/.exec(taken) ?? [];
  if (type === undefined) return '';
  const [, body = ''] =
    new RegExp(`^class ${type}\\(TypedDict\\):\\n([\\s\\S]*?)(?=^\\S)`, 'm').exec(
      read('src/throughline_memory/types.py'),
    ) ?? [];
  const names = [...body.matchAll(/^ {4}([a-z]\w*): /gm)].map(([, name]) => `\`${name}\``);
  return ` Options: ${names.join(', ')}.`;
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
