/**
 * Writes the typed part of the Python client from the JSON Schemas and the registry of requests: TypedDicts of results, requests
 * and replies, and a method for each request. `npm run docs` writes both files.
 */

/** Alias by alias: a choice of words at a path of a schema. */
const CHOICES = {
  Role: ['prompt.compile.request', '$defs', 'DispatchRequest', 'properties', 'role'],
  TaskStatus: ['tool.task-status.request', 'properties', 'status'],
  NoteType: ['tool.note-add.request', 'properties', 'type'],
  ErrorCode: ['error.reply', 'properties', 'error', 'properties', 'code'],
};

const RESULTS = ['implementer', 'reviewer', 'observer'];

/** Classes of methods: where they are found, and the requests they are for. */
const GROUPS = [
  ['Tools', 'session.tools', 'tool', true],
  ['Runs', 'session.runs', 'run', true],
  ['Traces', 'session.traces', 'trace', true],
  ['ClientTools', 'client.tools', 'tool', false],
  ['Learnings', 'client.learnings', 'learning', false],
  ['Proposals', 'client.proposals', 'proposal', false],
];

const KEYWORDS = new Set(['from', 'is', 'in', 'class', 'global', 'pass', 'not', 'and', 'or', 'if', 'as']);
const PLAIN = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

const pascal = (name) => name.replace(/(^|[_.-])(.)/g, (_, __, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');
const argument = (field) => (KEYWORDS.has(field) ? `${field}_` : snake(field));
const literal = (values) =>
  `Literal[${values.map((value) => JSON.stringify(value).replace(/^[tf]/, (letter) => letter.toUpperCase())).join(', ')}]`;
const quoted = (text) => `"""${text.replaceAll('\\', '\\\\')}"""`;
/** `tool.task-add` is TaskAdd: its types are TaskAddRequest and TaskAddReply. */
const typeName = (request) => pascal(request.replace('tool.', ''));

/** Collects the names of fields whose value is a map, whose keys are data, and of those whose value is another object. */
function objectsIn(schema, root, maps, others) {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    const value = of.$ref === undefined ? of : root.$defs[of.$ref.replace('#/$defs/', '')];
    if (typeof value.additionalProperties === 'object') maps.add(field);
    else if (value.properties !== undefined) others.add(field);
  }
  for (const inner of Object.values(schema)) objectsIn(inner, root, maps, others);
}

/**
 * @param schemaOf the JSON Schema of a name
 * @param fixes how to correct an error, by its code
 * @param requests the rows of the registry, by name
 */
export function pythonTypes(schemaOf, fixes, requests) {
  const classes = new Map();
  const written = new Map();
  /** The type of a value; `name` is what an object without a name is called. */
  function typeOf(schema, root, name) {
    const { $ref, type, items, properties, additionalProperties } = schema;
    const choices = schema.oneOf ?? schema.anyOf;
    if ($ref !== undefined) {
      const part = $ref.replace('#/$defs/', '');
      return typeOf(root.$defs[part], root, part);
    }
    if (choices !== undefined)
      return [
        ...new Set(choices.map((each, at) => typeOf(each, root, at === 0 ? name : `${name}${at + 1}`))),
      ].join(' | ');
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (type === 'array') return `list[${typeOf(items, root, name)}]`;
    if (typeof additionalProperties === 'object')
      return `dict[str, ${typeOf(additionalProperties, root, name)}]`;
    if (properties !== undefined) return typedDict(schema, root, name, snake);
    return PLAIN[type] ?? 'Any';
  }
  /** Writes the class of an object, once, after those of its fields. */
  function typedDict({ properties, required = [], description = '' }, root, name, spelled, left = []) {
    const shape = JSON.stringify([properties, required]);
    if (written.has(name)) {
      if (written.get(name) !== shape) throw new Error(`two types are called ${name}`);
      return name;
    }
    written.set(name, shape);
    const fields = Object.entries(properties)
      .filter(([field]) => !left.includes(field))
      .map(([field, schema]) => {
        const inner = typeOf(schema, root, `${name}${pascal(field)}`);
        const isOptional = !required.includes(field);
        return {
          name: spelled(field),
          type: isOptional ? `NotRequired[${inner}]` : inner,
          about: schema.description,
        };
      });
    const said = description === '' ? [] : [`    ${quoted(description)}`, ''];
    const lines = fields.some((field) => KEYWORDS.has(field.name))
      ? [
          `${name} = TypedDict("${name}", {`,
          ...fields.map((field) => `    "${field.name}": ${field.type},  # ${field.about}`),
          '})',
        ]
      : [
          `class ${name}(TypedDict):`,
          ...said,
          ...fields.flatMap((field) => [
            `    ${field.name}: ${field.type}`,
            ...(field.about === undefined ? [] : [`    ${quoted(field.about)}`]),
          ]),
          ...(said.length + fields.length === 0 ? ['    pass'] : []),
        ];
    // The classes of its fields come first.
    classes.set(name, lines.join('\n'));
    return name;
  }

  const at = ([name, ...path]) => path.reduce((schema, step) => schema[step], schemaOf(name));
  const aliases = Object.entries(CHOICES).map(([name, path]) => `${name} = ${typeOf(at(path), {}, name)}`);
  for (const role of RESULTS) {
    const schema = schemaOf(`result.${role}`);
    typedDict(schema, schema, `${pascal(role)}Result`, snake);
  }
  const maps = new Set();
  const others = new Set();
  const unions = [];
  for (const name of Object.keys(requests).filter((each) => each !== 'prompt.past')) {
    const asked = schemaOf(`${name}.request`);
    const kinds = asked.oneOf?.map(({ $ref }) => $ref.replace('#/$defs/', ''));
    for (const kind of kinds ?? [`${typeName(name)}Request`])
      typedDict(kinds ? asked.$defs[kind] : asked, asked, kind, argument, ['session']);
    const reply = schemaOf(`${name}.reply`);
    objectsIn(reply, reply, maps, others);
    const type = typeOf(reply, reply, `${typeName(name)}Reply`);
    if (type !== `${typeName(name)}Reply`) unions.push(`${typeName(name)}Reply = ${type}`);
  }
  const unclear = [...maps].filter((name) => others.has(name));
  if (unclear.length > 0) throw new Error(`a map in one reply and an object in another: ${unclear}`);
  const results = RESULTS.map((role) => `    "${role}": ${pascal(role)}Result,`);
  const told = Object.entries(fixes).map(
    ([code, fix]) => `    "${code}": ${JSON.stringify(fix.replace(/details\.\w+/g, snake))},`,
  );
  return `${quoted('Types of results, requests and replies: written from the JSON Schemas by `npm run docs`.')}

from typing import Any, Literal, NotRequired, TypedDict

${aliases.join('\n')}


${[...classes.values()].join('\n\n\n')}


${unions.join('\n')}

RESULTS = {
${results.join('\n')}
}

MAPS = {${[...maps]
    .sort()
    .map((name) => JSON.stringify(name))
    .join(', ')}}
"""Fields of replies whose value, if it is a dict, has keys that are data."""

FIXES: dict[str, str] = {
${told.join('\n')}
}
`;
}

/** @param requests the rows of the registry, by name */
export function pythonMethods(requests) {
  const classes = GROUPS.flatMap(([name, place, prefix, isBound]) => {
    const rows = Object.entries(requests).filter(
      ([request, { scope }]) =>
        request.startsWith(`${prefix}.`) && (scope === 'any session' || (scope === 'session') === isBound),
    );
    const method = (request) => snake(request.slice(prefix.length + 1));
    const methods = rows.map(
      ([
        request,
        { summary },
      ]) => `    async def ${method(request)}(self, **fields: Unpack[t.${typeName(request)}Request]) -> t.${typeName(request)}Reply:
        """${summary[0].toUpperCase()}${summary.slice(1)}."""
        return cast(t.${typeName(request)}Reply, await self._send("${request}", fields))
`,
    );
    const blocking = rows.map(
      ([request]) => `    ${method(request)} = blocking(${name}.${method(request)})\n`,
    );
    return [
      `class ${name}(Group):\n    """The methods of \`${place}\`."""\n\n${methods.join('\n')}`,
      `class Sync${name}(SyncGroup):\n    """The methods of \`${place}\`, without asyncio."""\n\n${blocking.join('')}`,
    ];
  });
  return `"""A method for each request: written from the registry of requests by \`npm run docs\`."""

from typing import Unpack, cast

from . import types as t
from .groups import Group, SyncGroup, blocking


${classes.join('\n\n')}`;
}
