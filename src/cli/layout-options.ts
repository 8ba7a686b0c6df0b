import { type Command, InvalidArgumentError, Option } from 'commander';
import { isShardCount, LAYOUTS, MAX_SHARDS, type SessionLayout } from '../contracts/session-layout.js';
import type { Cli } from './cli-context.js';

/** How session logs are laid out, as typed; what is not typed comes from the settings. */
export interface LayoutOptions {
  readonly layout?: SessionLayout['layout'];
  readonly shards?: number;
}

/** @param about what the layout is for, in the help */
export function addLayoutOptions(command: Command, about: string): Command {
  return command
    .addOption(new Option('--layout <layout>', `${about} (default: THROUGHLINE_LAYOUT)`).choices(LAYOUTS))
    .option(
      '--shards <n>',
      'its number of streams with --layout sharded (default: that of THROUGHLINE_LAYOUT)',
      shards,
    );
}

/** The same as if the settings said it. */
export function withLayout<C extends Cli>(cli: C, { layout, shards: count }: LayoutOptions): C {
  const { config } = cli;
  return { ...cli, config: { ...config, layout: layout ?? config.layout, shards: count ?? config.shards } };
}

export function shards(raw: string): number {
  const value = Number(raw);
  if (/^\d+$/.test(raw) && isShardCount(value)) return value;
  throw new InvalidArgumentError(`Use a power of two from 1 to ${MAX_SHARDS}.`);
}
