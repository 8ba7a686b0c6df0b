import type { Command } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';
export const SHELLS: readonly Shell[];

interface CompletedCommand {
  /** The words of the command: `session ls`; empty for the program itself. */
  readonly at: string;
  readonly commands: readonly { readonly word: string; readonly about: string }[];
  readonly options: readonly { readonly flags: readonly string[] }[];
}

/** All commands of the program, each before those below it. */
export function completedCommands(program: Command): CompletedCommand[];
export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string;
export function writeCompletions(program: Command, folder: URL): Promise<void>;
