import { Command as Base, Option } from 'commander';
import type { Config } from '../config/config.js';
import type { ServerInUse } from '../config/user-server.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';

export class Command extends Base {
  declare readonly commands: readonly Command[];
  declare readonly parent: Command | null;

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`);
  }

  /** Adds an option that takes one of these words, or several if its flags end with `...>`. */
  choice(flags: string, about: string, words: readonly string[], fallback?: string): this {
    return this.addOption(new Option(flags, about).choices(words).default(fallback));
  }
}

export type Flags<Name extends string> = { readonly [Option in Name]?: boolean };
export type Texts<Name extends string> = { readonly [Option in Name]?: string };
export type Numbers<Name extends string> = { readonly [Option in Name]?: number };

export interface Cli {
  readonly config: Config;
  readonly logger: Logger;
  /** The server to use: `--nats`, else `NATS_URL`, else the joined team's, else the user's own. */
  readonly server: ServerInUse;
  /** Starts the user's server in the background; undefined where another is named, or that is switched off. */
  readonly autostart?: (() => Promise<unknown>) | undefined;
}
