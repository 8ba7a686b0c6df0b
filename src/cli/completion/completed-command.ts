import type { Command, Option } from 'commander';

/** Shell completions of a command, derived from the command line itself, so they always match `--help`. */
export interface CompletedCommand {
  /** The words of the command: `session ls`; empty for the program itself. */
  readonly at: string;
  readonly commands: readonly CompletedWord[];
  readonly options: readonly CompletedOption[];
  /** Completions of the first argument. */
  readonly argument: Completed;
}

interface CompletedWord {
  readonly word: string;
  readonly about: string;
}

export interface CompletedOption {
  /** `-s` and `--session`. */
  readonly flags: readonly string[];
  readonly about: string;
  readonly value: Completed;
}

/** Kind of completion: nothing, free text, a file, a session name, or one of some words. */
export type Completed = 'nothing' | 'text' | 'file' | 'session' | readonly string[];

/** All commands of the program, each before those below it. */
export function completedCommands(program: Command): CompletedCommand[] {
  // The version is asked of the program alone.
  return below(
    program,
    [],
    program.options.filter(({ long }) => long !== '--version'),
  );
}

/** Every command has it, without declaring it. */
const HELP: CompletedOption = { flags: ['--help'], about: 'what it does, with an example', value: 'nothing' };

/** The group `hidden` of the command table, which loads this file. */
const CALLED_BY_PROGRAMS = new Set(['hook', 'tool']);

function below(command: Command, path: readonly string[], shared: readonly Option[]): CompletedCommand[] {
  const inner = command.commands.filter(
    (each) => each.name() !== 'help' && !(path.length === 0 && CALLED_BY_PROGRAMS.has(each.name())),
  );
  const own = command.options.filter((each) => isShown(each) && !shared.includes(each));
  const here: CompletedCommand = {
    at: path.join(' '),
    commands: inner.map((each) => ({
      word: each.name(),
      about: firstSentence(each.summary() || each.description()),
    })),
    options: [...[...own, ...shared].map(completedOption), HELP],
    argument: argumentOf(command),
  };
  return [here, ...inner.flatMap((each) => below(each, [...path, each.name()], shared))];
}

function completedOption(option: Option): CompletedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined && flag !== null);
  const takes = option.required || option.optional;
  const name = (/[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? '').toLowerCase();
  return {
    flags,
    about: firstSentence(option.description),
    value: takes ? (option.argChoices ?? byName(option.long === '--session' ? 'session' : name)) : 'nothing',
  };
}

function argumentOf(command: Command): Completed {
  const [first] = command.registeredArguments;
  if (first === undefined) return 'nothing';
  return first.argChoices ?? byName(first.name());
}

function byName(name: string): Completed {
  if (name === 'session') return 'session';
  return /file|dir|path/.test(name) ? 'file' : 'text';
}

function isShown({ hidden }: Option): boolean {
  return !hidden;
}

function firstSentence(text: string): string {
  return (text.split(/\n|(?<=\.) |; /)[0] ?? '').replace(/\.$/, '');
}
