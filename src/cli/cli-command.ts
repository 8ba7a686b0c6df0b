import { Command as Base, Option } from 'commander';

/** A command with the parts that ours have in common. */
export class Command extends Base {
  declare readonly commands: readonly Command[];
  declare readonly parent: Command | null;

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds examples below the help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`);
  }

  /** Adds an option that takes one of these words, or several if its flags end with `...>`. */
  choice(flags: string, about: string, words: readonly string[], fallback?: string): this {
    return this.addOption(new Option(flags, about).choices(words).default(fallback));
  }
}

/** Options of a command, as commander gives them. */
export type Flags<Name extends string> = { readonly [Option in Name]?: boolean };
export type Texts<Name extends string> = { readonly [Option in Name]?: string };
export type Numbers<Name extends string> = { readonly [Option in Name]?: number };
