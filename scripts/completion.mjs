// Writes the completion scripts of the shells from the command line itself, so that they always match `--help`. All words
// stand in the script: a shell waits for nothing but the names of sessions, which `admin completion --sessions` prints.
import { mkdir, writeFile } from 'node:fs/promises';

export const SHELLS = ['bash', 'zsh', 'fish'];

/** Writes `completion.bash` and so on into a folder. */
export async function writeCompletions(program, folder) {
  const commands = completedCommands(program);
  await mkdir(folder, { recursive: true });
  for (const shell of SHELLS)
    await writeFile(new URL(`completion.${shell}`, folder), completionScript(shell, commands));
}

/** The completion script of a shell for these commands. */
export function completionScript(shell, commands) {
  return { bash, zsh, fish }[shell](commands);
}

const SESSIONS = 'throughline admin completion --sessions 2>/dev/null';

function bash(commands) {
  const places = commands.map(
    ({ at, commands: inner, options, argument }) =>
      `    ${quoted(at)}) commands=${quoted(words(inner))} options=${quoted(flagsOf(options).join(' '))} argument=${quoted(kindOf(argument))} ;;`,
  );
  const values = commands.flatMap(({ at, options }) =>
    withValue(options).map(
      ({ flags, value }) =>
        `    ${flags.map((flag) => quoted(`${at}|${flag}`)).join('|')}) value=${quoted(kindOf(value))} ;;`,
    ),
  );
  return `# Completion of throughline for bash, as "throughline admin completion bash" prints it
__throughline_at() {
  commands='' options='' argument=''
  case "$1" in
${places.join('\n')}
  esac
}
__throughline_value() {
  value=''
  case "$1|$2" in
${values.join('\n')}
  esac
}
__throughline_words() {
  case "$1" in
    session) COMPREPLY=($(compgen -W "$(${SESSIONS})" -- "$2")) ;;
    file) compopt -o default 2>/dev/null; COMPREPLY=() ;;
    text | '') COMPREPLY=() ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$2")) ;;
  esac
}
_throughline() {
  local commands options argument value at='' given=0 i word
  local current="\${COMP_WORDS[COMP_CWORD]}"
  __throughline_at "$at"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    __throughline_value "$at" "$word"
    if [[ -n "$value" ]]; then
      if ((i + 1 == COMP_CWORD)); then __throughline_words "$value" "$current"; return; fi
      ((i++))
    elif [[ " $commands " == *" $word "* ]]; then
      at="\${at:+$at }$word"
      __throughline_at "$at"
    elif [[ "$word" != -* ]]; then
      given=1
    fi
  done
  if [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif ((given == 0)); then
    __throughline_words "$argument" "$current"
    COMPREPLY+=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -F _throughline throughline
`;
}

function zsh(commands) {
  const described = (word, about) => quoted(`${word.replaceAll(':', '\\:')}:${about}`);
  const places = commands.map(({ at, commands: inner, options, argument }) => {
    const listed = inner.map(({ word, about }) => described(word, about)).join(' ');
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.about)));
    return `    ${quoted(at)}) commands=(${listed}) options=(${flags.join(' ')}) argument=${quoted(kindOf(argument))} ;;`;
  });
  const values = commands.flatMap(({ at, options }) =>
    withValue(options).map(
      ({ flags, value }) =>
        `    ${flags.map((flag) => quoted(`${at}|${flag}`)).join('|')}) value=${quoted(kindOf(value))} ;;`,
    ),
  );
  return `#compdef throughline
# Completion of throughline for zsh, as "throughline admin completion zsh" prints it
__throughline_at() {
  commands=() options=() argument=''
  case "$1" in
${places.join('\n')}
  esac
}
__throughline_value() {
  value=''
  case "$1|$2" in
${values.join('\n')}
  esac
}
__throughline_words() {
  case "$1" in
    session) compadd -- \${(f)"$(${SESSIONS})"} ;;
    file) _files ;;
    text | '') ;;
    *) compadd -- \${=1} ;;
  esac
}
_throughline() {
  local argument value at='' word
  local -a commands options
  local -i given=0 i
  __throughline_at "$at"
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    __throughline_value "$at" "$word"
    if [[ -n "$value" ]]; then
      if ((i + 1 == CURRENT)); then __throughline_words "$value"; return; fi
      ((i++))
    elif ((\${commands[(I)\${word}:*]})); then
      at="\${at:+$at }$word"
      __throughline_at "$at"
    elif [[ "$word" != -* ]]; then
      given=1
    fi
  done
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe -o option options
  elif ((given == 0)); then
    if ((\${#commands})); then _describe command commands; fi
    __throughline_words "$argument"
  fi
}
if [[ "\${funcstack[1]}" == _throughline ]]; then _throughline "$@"; else compdef _throughline throughline; fi
`;
}

function fish(commands) {
  const paths = commands.filter(({ at }) => at !== '').map(({ at }) => fishQuoted(at));
  const lines = commands.flatMap(({ at, commands: inner, options, argument }) => {
    const here = `complete -c throughline -n ${fishQuoted(`__throughline_is ${fishQuoted(at)}`)}`;
    return [
      ...inner.map(({ word, about }) => `${here} -a ${fishQuoted(word)} -d ${fishQuoted(about)}`),
      ...options.map((option) => `${here} ${fishFlags(option)} -d ${fishQuoted(option.about)}`),
      ...fishValue(argument).map((value) => `${here} ${value}`),
    ];
  });
  return `# Completion of throughline for fish: throughline admin completion fish | source
function __throughline_path
    set -l at
    for word in (commandline -opc)[2..]
        if contains -- (string join ' ' -- $at $word) ${paths.join(' ')}
            set -a at $word
        end
    end
    string join ' ' -- $at
end
function __throughline_is
    test "$(__throughline_path)" = "$argv[1]"
end
complete -c throughline -f
${lines.join('\n')}
`;
}

function fishFlags({ flags, value }) {
  const named = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${fishQuoted(flag.slice(2))}` : `-s ${fishQuoted(flag.slice(1))}`,
  );
  if (value === 'nothing') return named.join(' ');
  return [...named, '-r', ...fishValue(value)].join(' ');
}

function fishValue(value) {
  if (value === 'nothing' || value === 'text') return [];
  if (value === 'file') return ['-F'];
  return [`-a ${fishQuoted(value === 'session' ? `(${SESSIONS})` : value.join(' '))}`];
}

function kindOf(value) {
  return typeof value === 'string' ? value.replace('nothing', '') : value.join(' ');
}

function withValue(options) {
  return options.filter(({ value }) => value !== 'nothing');
}

function flagsOf(options) {
  return options.flatMap(({ flags }) => flags);
}

function words(commands) {
  return commands.map(({ word }) => word).join(' ');
}

function fishQuoted(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** All commands of the program, each before those below it. */
export function completedCommands(program) {
  // The version is asked of the program alone.
  return below(
    program,
    [],
    program.options.filter(({ long }) => long !== '--version'),
  );
}

/** Every command has it, without declaring it. */
const HELP = { flags: ['--help'], about: 'what it does, with an example', value: 'nothing' };

/** The group `hidden` of the command table, which loads this file. */
const CALLED_BY_PROGRAMS = new Set(['hook', 'tool']);

function below(command, path, shared) {
  const inner = command.commands.filter(
    (each) => each.name() !== 'help' && !(path.length === 0 && CALLED_BY_PROGRAMS.has(each.name())),
  );
  const own = command.options.filter((each) => isShown(each) && !shared.includes(each));
  const here = {
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

function completedOption(option) {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined && flag !== null);
  const takes = option.required || option.optional;
  const name = (/[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? '').toLowerCase();
  return {
    flags,
    about: firstSentence(option.description),
    value: takes ? (option.argChoices ?? byName(option.long === '--session' ? 'session' : name)) : 'nothing',
  };
}

function argumentOf(command) {
  const [first] = command.registeredArguments;
  if (first === undefined) return 'nothing';
  return first.argChoices ?? byName(first.name());
}

function byName(name) {
  if (name === 'session') return 'session';
  return /file|dir|path/.test(name) ? 'file' : 'text';
}

function isShown({ hidden }) {
  return !hidden;
}

function firstSentence(text) {
  return (text.split(/\n|(?<=\.) |; /)[0] ?? '').replace(/\.$/, '');
}

/** In single quotes, as bash and zsh read them. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

if (process.argv[1]?.endsWith('completion.mjs')) {
  const { createProgram } = await import('../dist/cli/program.js');
  await writeCompletions(await createProgram(), new URL('../dist/completions/', import.meta.url));
}
