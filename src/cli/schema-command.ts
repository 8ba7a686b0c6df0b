import { ThroughlineError } from '../contracts/errors.js';
import { SCHEMA_LIST, schemaText } from '../contracts/json-schemas.js';
import { nearestName } from '../shared/nearest-name.js';
import type { Command } from './cli-command.js';
import { out } from './command-context.js';

export function schemaCommand(program: Command): void {
  const schema = program
    .command('schema')
    .description('JSON Schemas of results, requests, replies, events and the snapshot (draft 2020-12).')
    .examples('throughline dev schema print result.implementer');

  schema
    .command('ls')
    .description('Lists the schemas.')
    .option('--json', 'print {"schemas":[{"name","about"}]}')
    .examples('throughline dev schema ls --json')
    .action(({ json }: { json?: boolean }) => {
      if (json) return out(JSON.stringify({ schemas: SCHEMA_LIST }));
      const width = Math.max(...SCHEMA_LIST.map(({ name }) => name.length));
      for (const { name, about } of SCHEMA_LIST) out(`${name.padEnd(width)}  ${about}`);
    });

  schema
    .command('print')
    .description('Prints a schema.')
    .argument('<name>', 'name of the schema, as schema ls shows it')
    .examples('throughline dev schema print prompt.compile.request > request.json')
    .action((name: string) => {
      const found = schemaText(name);
      if (found !== undefined) return out(found);
      const near = nearestName(
        name,
        SCHEMA_LIST.map((each) => each.name),
      );
      throw new ThroughlineError(
        'not_found',
        `there is no schema ${JSON.stringify(name)}${near === undefined ? ':' : `; did you mean ${near}?`} "throughline dev schema ls" lists them`,
      );
    });
}
