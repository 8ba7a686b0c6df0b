import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { messageOf, ThroughlineError } from '../errors.js';
import { checkTemplate, ITERATION_VARIABLES } from '../prompt/compile-iteration.js';
import { ITERATION_TEMPLATE } from '../prompt/iteration-template.js';
import { examples, note, out } from './cli.js';

export function templateCommand(program: Command): void {
  const template = program
    .command('template')
    .summary('print the iteration template, or check one of your own')
    .description(
      `Templates of iteration prompts. Placeholders: ${ITERATION_VARIABLES.map((name) => `{{${name}}}`).join(' ')}`,
    )
    .addHelpText('after', examples('throughline template print'));

  template
    .command('print')
    .description('Prints the built-in template, to begin one of your own with.')
    .addHelpText('after', examples('throughline template print > my-template.md'))
    .action(() => out(ITERATION_TEMPLATE));

  template
    .command('check')
    .description('Checks that a template holds no unknown placeholder.')
    .argument('<file>', 'the template')
    .addHelpText('after', examples('throughline template check my-template.md'))
    .action(async (file: string) => {
      checkTemplate(await readTemplate(file));
      note('-- all placeholders are known');
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
