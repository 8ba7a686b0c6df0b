import { SCHEMA_NAMES, schemaText } from '../../src/contracts/json-schemas.js';
import { endingWith, type Written } from './pages.js';
import { requestRows } from './subjects.js';

/** The files of `schemas/`. */
export function jsonSchemas(): Written {
  return Object.fromEntries(SCHEMA_NAMES.map((name) => [`schemas/${name}.json`, `${schemaText(name)}\n`]));
}

export function schemasPage(): Written {
  const results = SCHEMA_NAMES.filter((name) => name.startsWith('result.'));
  const page = `## Requests by name

A request that names a session may go to \`<subject>.<session>\` too, as the SDK sends it: a permission can then bind a user to
its session. The last column has the first letters of the roles that may send it for all sessions: publisher, reader, operator. Defaults and
meanings are in the schemas below. \`client.tools\`, \`client.runs\` and so on have a method for each request, in camelCase.

| request | what it does | command | fields | roles |
|---|---|---|---|---|
${requestRows()}

## JSON Schemas

The package contains a JSON Schema (draft 2020-12) of everything on the wire, in \`schemas/\`: \`REQUEST.request.json\` and \`REQUEST.reply.json\` for each
request above, ${results.map((name) => `[\`${name}\`](../../schemas/${name}.json)`).join(', ')}, \`session.event\`,
\`learning.event\` and [\`error.reply\`](../../schemas/error.reply.json).

In a project that has installed the package, \`import schema from 'throughline/schemas/result.implementer.json' with { type: 'json' }\` imports one.

- Each file is complete: named parts, such as \`Task\`, are in its \`$defs\`, under the same name in every file.
- Unknown fields are allowed in every schema. A service rejects them in requests and ignores them in results.
- Each reply carries its version in the header \`Throughline-Reply-Version\`. The TypeScript client throws \`reply_invalid\` for another version than its own.
`;
  return { 'docs/reference/requests.md': endingWith('docs/reference/requests.md', page) };
}
