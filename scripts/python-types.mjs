/**
 * Writes the types of the Python client from the JSON Schemas: TypedDicts of results, of what the client's methods take, and of
 * what they return. `npm run docs` writes the file.
 */

/** Alias by alias: a choice of words at a path of a schema. */
const CHOICES = {
  Role: ['prompt.compile.request', '$defs', 'DispatchRequest', 'properties', 'role'],
  TaskStatus: ['tool.task-status.request', 'properties', 'status'],
  NoteType: ['tool.note-add.request', 'properties', 'type'],
  ErrorCode: ['error.reply', 'properties', 'error', 'properties', 'code'],
};

const RESULTS = ['implementer', 'reviewer', 'observer'];

/** What a method takes by name: a request without the fields that the method takes otherwise. */
const OPTIONS = {
  PromptOptions: ['prompt.compile.request', ['session', 'kind', 'taskId', 'taskPrompt'], 'DispatchRequest'],
  TaskAddOptions: ['tool.task-add.request', ['session', 'content']],
  TaskReleaseOptions: ['tool.task-release.request', ['session', 'id']],
  FactFindOptions: ['tool.fact-find.request', ['session', 'text']],
  RecallOptions: ['tool.recall.request', ['session', 'project', 'query']],
  AnswerOptions: ['tool.blocker-answer.request', ['session', 'task', 'answer']],
};

/** Parts of replies that methods return. */
const REPLIES = [
  ['prompt.compile.reply', 'DispatchReply'],
  ['tool.task-list.reply', 'Task'],
  ['tool.note-list.reply', 'Note'],
  ['tool.inbox-list.reply', 'Message'],
  ['tool.fact-find.reply', 'FoundFact'],
  ['tool.blocker-answer.reply', 'Answer'],
  ['tool.timeline-list.reply', 'TimelineEntry'],
];

/** Replies that methods return whole. */
const WHOLE = {
  DispatchResult: 'tool.dispatch-show.reply',
  NextTask: 'tool.task-next.reply',
  Recalled: 'tool.recall.reply',
  RunStatus: 'run.status.reply',
};

const KEYWORDS = new Set(['from', 'is', 'in', 'class', 'global', 'pass', 'not', 'and', 'or', 'if', 'as']);
const PLAIN = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

const pascal = (name) => name.replace(/(^|[_-])(.)/g, (_, __, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const literal = (values) =>
  `Literal[${values.map((value) => JSON.stringify(value).replace('true', 'True')).join(', ')}]`;
const quoted = (text) => `"""${text.replaceAll('\\', '\\\\')}"""`;

/**
 * @param schemaOf the JSON Schema of a name
 * @param fixes how to correct an error, by its code
 */
export function pythonTypes(schemaOf, fixes) {
  const classes = new Map();
  /** The type of a value; `name` is what an object without a name is called. */
  function typeOf(schema, root, name, spelled) {
    const { $ref, type, items, properties, additionalProperties } = schema;
    const choices = schema.oneOf ?? schema.anyOf;
    if ($ref !== undefined) {
      const part = $ref.replace('#/$defs/', '');
      return typeOf(root.$defs[part], root, part, spelled);
    }
    if (choices !== undefined)
      return [...new Set(choices.map((each) => typeOf(each, root, name, spelled)))].join(' | ');
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (type === 'array') return `list[${typeOf(items, root, name, spelled)}]`;
    if (properties !== undefined) return typedDict(schema, root, name, spelled);
    if (type === 'object') return `dict[str, ${typeOf(additionalProperties ?? {}, root, name, spelled)}]`;
    return PLAIN[type] ?? 'Any';
  }
  /** Writes the class of an object, once, after those of its fields. */
  function typedDict({ properties, required = [], description = '' }, root, name, spelled, left = []) {
    if (classes.has(name)) return name;
    classes.set(name, '');
    const fields = Object.entries(properties)
      .filter(([field]) => !left.includes(field))
      .map(([field, schema]) => {
        const inner = typeOf(schema, root, `${name}${pascal(field)}`, spelled);
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
        ];
    // The classes of its fields come first.
    classes.delete(name);
    classes.set(name, lines.join('\n'));
    return name;
  }

  const wire = (field) => field;
  const argument = (field) => (KEYWORDS.has(field) ? `${field}_` : snake(field));
  const at = ([name, ...path]) => path.reduce((schema, step) => schema[step], schemaOf(name));
  const aliases = Object.entries(CHOICES).map(
    ([name, path]) => `${name} = ${typeOf(at(path), {}, name, wire)}`,
  );
  for (const role of RESULTS) {
    const schema = schemaOf(`result.${role}`);
    typedDict(schema, schema, `${pascal(role)}Result`, wire);
  }
  for (const [name, [from, left, part]] of Object.entries(OPTIONS)) {
    const root = schemaOf(from);
    const { properties } = part === undefined ? root : root.$defs[part];
    const description = `Further fields of the request: ${from.replace('.request', '')}.`;
    typedDict({ properties, description }, root, name, argument, left);
  }
  for (const [from, part] of REPLIES) {
    const root = schemaOf(from);
    typedDict(root.$defs[part], root, part, wire);
  }
  const unions = Object.entries(WHOLE).flatMap(([name, from]) => {
    const root = schemaOf(from);
    const type = typeOf(root, root, name, wire);
    return type === name ? [] : [`${name} = ${type}`];
  });
  const results = RESULTS.map((role) => `    "${role}": ${pascal(role)}Result,`);
  const told = Object.entries(fixes).map(([code, fix]) => `    "${code}": ${JSON.stringify(fix)},`);
  return `${quoted('Types of results, options and replies: written from the JSON Schemas by `npm run docs`.')}

from typing import Any, Literal, NotRequired, TypedDict

${aliases.join('\n')}


${[...classes.values()].join('\n\n\n')}


${unions.join('\n')}

RESULTS = {
${results.join('\n')}
}

FIXES: dict[str, str] = {
${told.join('\n')}
}
`;
}
