import { SCHEMA_LIST, schemaText } from '../../src/contracts/json-schemas.js';
import { asCode, endingWith, type Written } from './pages.js';

/** The files of `schemas/`. */
export function jsonSchemas(): Written {
  return Object.fromEntries(SCHEMA_LIST.map(({ name }) => [`schemas/${name}.json`, `${schemaText(name)}\n`]));
}

export function schemasPage(): Written {
  const page = `## JSON Schemas

The package contains a JSON Schema (draft 2020-12) of each result, request, reply and event, in
\`schemas/\`. They are generated from the schemas of the code.

\`\`\`sh
throughline dev schema ls                          # --json: names and descriptions
throughline dev schema print result.implementer
\`\`\`

A package manager installs them in \`node_modules/throughline/schemas/\`; \`import schema from
'throughline/schemas/result.implementer.json' with { type: 'json' }\` imports one.

- Each file is complete: named parts, such as \`Task\`, are in its \`$defs\`. Titles and part names are valid type names, and a
  part has the same name in every file.
- A service answers with the reply of the request, or with [\`error.reply\`](../../schemas/error.reply.json).
- Requests use camelCase here; services also accept snake_case.
- Unknown fields are allowed in every schema. A service rejects them in requests and ignores them in results. Ignore unknown fields
  and words of replies and events: a later version may add some.
- A result that does not fit its schema is [repaired](results.md#repairs) where possible.
- Each reply carries its version in the header \`Throughline-Reply-Version\`. The TypeScript client throws \`reply_invalid\` for another version than its own.

| name | what it describes |
|---|---|
${SCHEMA_LIST.map(({ name, about }) => `| [\`${name}\`](../../schemas/${name}.json) | ${asCode(about)} |`).join('\n')}
`;
  return { 'docs/reference/requests.md': endingWith('docs/reference/requests.md', page) };
}
