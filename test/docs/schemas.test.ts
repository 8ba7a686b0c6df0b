import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { jsonSchema, SCHEMA_LIST, schemaText } from '../../src/cli/schemas/json-schemas.js';
import { TOKEN_PATTERN } from '../../src/contracts/names.js';
import { asCode, ROOT } from './pages.js';

/** The files of `schemas/`, which `npm run docs` writes and these tests compare. */

type Json = { readonly [key: string]: unknown };
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Every part of a schema that is a schema, by its path. */
function partsOf(schema: unknown, path = ''): { path: string; part: Json }[] {
  if (!isJson(schema) || Array.isArray(schema)) return [];
  const { properties, $defs, items, additionalProperties, anyOf, oneOf } = schema;
  const inner: [string, unknown][] = [
    ...Object.entries(properties ?? {}).map(([name, of]): [string, unknown] => [`.${name}`, of]),
    ...Object.entries($defs ?? {}).map(([name, of]): [string, unknown] => [`#${name}`, of]),
    ...[anyOf, oneOf].flatMap((options) =>
      Object.entries(options ?? {}).map(([index, of]): [string, unknown] => [`|${index}`, of]),
    ),
    ['[]', items],
    ['{}', additionalProperties],
  ];
  return [{ path, part: schema }, ...inner.flatMap(([step, of]) => partsOf(of, `${path}${step}`))];
}

/** Every field of a schema. One that refers to a part may leave its description to that. */
function fieldsOf(schema: object | undefined): { path: string; name: string; described: boolean }[] {
  const all = partsOf(schema);
  const isDescribed = ({ description, $ref }: Json): boolean =>
    (typeof description === 'string' && description !== '') ||
    all.some(({ path, part }) => path === `#${String($ref).replace('#/$defs/', '')}` && isDescribed(part));
  return all.flatMap(({ path, part }) =>
    Object.entries(isJson(part.properties) ? part.properties : {}).map(([name, of]) => ({
      path: `${path}.${name}`,
      name,
      described: isJson(of) && isDescribed(of),
    })),
  );
}

describe('the JSON Schemas', () => {
  it.each(SCHEMA_LIST.map(({ name }) => name))('the file of %s is what the code says', async (name) => {
    await expect(`${schemaText(name)}\n`).toMatchFileSnapshot(`${ROOT}schemas/${name}.json`);
  });

  it('the folder of schemas holds those of the code and no others', () => {
    expect(readdirSync(`${ROOT}schemas`).sort()).toEqual(
      SCHEMA_LIST.map(({ name }) => `${name}.json`).sort(),
    );
  });

  it.each(SCHEMA_LIST.map(({ name }) => name))('every field of %s has a description', (name) => {
    const missing = fieldsOf(jsonSchema(name)).filter(
      // The state of a snapshot is for services.
      ({ path, described }) => !described && (name !== 'session.snapshot' || /^\.\w+$/.test(path)),
    );
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it.each(SCHEMA_LIST.map(({ name }) => name))('no part of %s says nothing', (name) => {
    const empty = partsOf(jsonSchema(name)).filter(({ part }) => Object.keys(part).length === 0);
    expect(empty.map(({ path }) => path)).toEqual([]);
  });

  it('each schema has an id and a title of its own, fit to be the name of a type', () => {
    const all = SCHEMA_LIST.map(({ name }) => jsonSchema(name) as Json);
    expect(new Set(all.map(({ $id }) => $id)).size).toBe(all.length);
    expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
    expect(all.map(({ title }) => title).filter((title) => !/^[A-Z][A-Za-z]*$/.test(String(title)))).toEqual(
      [],
    );
  });

  it.each(SCHEMA_LIST.map(({ name }) => name))('every part of %s that has a name says what it is', (name) => {
    const parts = Object.entries((jsonSchema(name) as Json).$defs ?? {});
    expect(parts.filter(([, part]) => !isJson(part) || !part.description).map(([of]) => of)).toEqual([]);
  });

  it('a part of a name is the same in every schema', () => {
    const parts = SCHEMA_LIST.flatMap(({ name }) => Object.entries((jsonSchema(name) as Json).$defs ?? {}));
    const first = new Map(parts.toReversed());
    const different = parts.filter(
      ([name, part]) => JSON.stringify(part) !== JSON.stringify(first.get(name)),
    );
    expect(different.map(([name]) => name)).toEqual([]);
  });

  it('each request has a reply, except the one that is not answered', () => {
    const names = SCHEMA_LIST.map(({ name }) => name);
    const subjects = (end: string) =>
      names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));
    const unanswered = subjects('.request').filter((subject) => !subjects('.reply').includes(subject));
    expect(unanswered).toEqual(['trace.record']);
    const unasked = subjects('.reply').filter((subject) => !subjects('.request').includes(subject));
    expect(unasked).toEqual(['error']);
  });

  it('each request says which names of sessions services take', () => {
    const sessions = SCHEMA_LIST.filter(({ name }) => name.endsWith('.request')).flatMap(({ name }) =>
      partsOf(jsonSchema(name)).flatMap(({ path, part: { properties } }) =>
        isJson(properties) && isJson(properties.session)
          ? [[`${name}${path}`, properties.session.pattern]]
          : [],
      ),
    );
    expect(sessions.length).toBeGreaterThan(30);
    expect(sessions.filter(([, pattern]) => pattern !== TOKEN_PATTERN.source)).toEqual([]);
  });

  it('the reference lists every schema', async () => {
    const page = `# JSON Schemas

The package holds a JSON Schema (draft 2020-12) of each result, request, reply, event and of the snapshot of a session, in
\`schemas/\`. They are made from the schemas of the code, by \`npm run docs\`. Every field has a description, but
for those inside the state of a snapshot, which is for services.

\`\`\`sh
throughline dev schema ls                          # --json: names and what they describe
throughline dev schema print result.implementer
\`\`\`

A package manager puts them in \`node_modules/throughline/schemas/\`; \`import schema from
'throughline/schemas/result.implementer.json' with { type: 'json' }\` gives one.

- Each file stands alone: parts that have a name, such as \`Task\`, are in its \`$defs\`. Titles and names of parts are fit to
  be names of types, and a part has the same name in every file.
- A service answers a request with its reply, or with [\`error.reply\`](../../schemas/error.reply.json).
- Requests have each field in camelCase here; services understand snake_case too.
- Unknown fields are allowed everywhere. A service refuses them in requests, and ignores them in results. A later version
  may send more fields in replies and events, and words that are not listed yet: ignore what you do not know.
- A result that does not fit its schema is repaired where that is possible: see [Repairs of results](repairs.md).
- The TypeScript client checks replies against these schemas, and throws \`reply_invalid\`. With \`checkReplies: false\` it
  does not, and loads no schema.

| name | what it describes |
|---|---|
${SCHEMA_LIST.map(({ name, about }) => `| [\`${name}\`](../../schemas/${name}.json) | ${asCode(about)} |`).join('\n')}
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/schemas.md`);
  });
});
