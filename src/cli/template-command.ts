import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import {
  checkTemplate,
  ITERATION_TEMPLATE,
  ITERATION_VARIABLES,
  unknownPlaceholders,
} from '../prompt/iteration-template.js';
import { examples, note, out } from './command-context.js';

export function templateCommand(program: Command): void {
  const template = program
    .command('template')
    .description(
      `Templates of iteration prompts. Placeholders: ${ITERATION_VARIABLES.map((name) => `{{${name}}}`).join(' ')}`,
    )
    .addHelpText('after', examples('throughline template print'));

  template
    .command('print')
    .description('Prints the built-in template, as a start for your own.')
    .addHelpText('after', examples('throughline template print > my-template.md'))
    .action(() => out(ITERATION_TEMPLATE));

  template
    .command('check')
    .description('Checks that a template holds no unknown placeholder.')
    .argument('<file>', 'template file')
    .option('--json', 'print {"ok":true,"unknown":[]}, with name and line of each unknown placeholder')
    .addHelpText('after', examples('throughline template check my-template.md'))
    .action(async (file: string, { json }: { json?: boolean }) => {
      const text = await readTemplate(file);
      if (json) {
        const unknown = unknownPlaceholders(text, ITERATION_VARIABLES);
        out(JSON.stringify({ ok: unknown.length === 0, unknown }));
      }
      checkTemplate(text);
      if (!json) note('-- all placeholders are known');
    });
}

/** The text of a template file. */
export async function readTemplate(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ThroughlineError('usage', `template ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
