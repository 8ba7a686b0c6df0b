import type { DispatchRequest } from '../../src/contracts/compile-request.js';
import { ITERATION_TEMPLATE, PLAN_TEMPLATE } from '../../src/prompt/iteration-template.js';
import type { CompiledPrompt } from '../../src/prompt/prompt-kind.js';
import { stablePrefix } from '../../src/prompt/role-contract.js';

/**
 * Reads a compiled prompt back into its sections, as a reader would who knows the format and not the session. Throws
 * where a line is none that the format has at its place, and where a line of memory is more than one quoted line.
 */

/** A part of a prompt: how it opens, and what each of its further lines looks like. A new section is a new row. */
export interface SectionRule {
  readonly name: string;
  readonly opening: RegExp;
  /** One pattern for all further lines, or several that each line must meet one of. */
  readonly lines: readonly RegExp[];
}

export interface Section {
  readonly name: string;
  /** Its lines after the first. */
  readonly lines: readonly string[];
}

const ITEM = /^- .*$/;
const FACT = /^- .* \[task:[^[\]]*\]$/;
const NOTES =
  /^(Open findings( of other tasks, not yours unless you touch their files)?|Likely files|Related work|Decisions and conventions|Failing tests|Left to do by other tasks|Also known)( \(\d+ of \d+; all: `[^`]*`\))?:$/;

/** A likely file with its reason, and the line of less likely ones. */
const FILE =
  /^- .* \((the most similar task touched it|\d+ of \d+ similar tasks touched it|fits the words of the task)\)$/;
const PERHAPS = /^Perhaps: .*$/;

/** Each line of the notes is of the form that its section has: only past work may lack its task. */
function checkNotes(lines: readonly string[]): void {
  let title = '';
  for (const line of lines) {
    if (NOTES.test(line) || PERHAPS.test(line) || line === '[Session Context]') {
      title = line;
      continue;
    }
    const rule = title.startsWith('Likely files') ? FILE : title.startsWith('Related work') ? ITEM : FACT;
    if (!rule.test(line)) throw new Error(`${JSON.stringify(line)} is not a line of ${title || 'the notes'}`);
  }
}

const LEARNINGS_TITLE = /^(Relevant|Recent) learnings \(\d+\/\d+\):$/;
const LEARNING = /^ {2}(\[\d\.\d\d\]|-) (pattern|insight|self_knowledge): .*$/;

/** In the order in which they may stand in the dynamic tail of a dispatch prompt; each at most once. */
export const TAIL_SECTIONS: readonly SectionRule[] = [
  { name: 'task', opening: /^Task .+(, round \d+)?: .*$/, lines: [/^Plan: \d+ of \d+ done$/] },
  {
    name: 'unreadable',
    opening:
      /^Unreadable: Your last result of this task could not be (read \(".*"\)|stored)\. Do not redo .*$/,
    lines: [],
  },
  {
    name: 'answers',
    opening: /^Questions of this task:$/,
    lines: [
      /^- Asked: ".*" Answered by .*: ".*"$/,
      /^- Asked: ".*"( \(.*\))? No answer yet(; go on with ".*")?\.$/,
    ],
  },
  {
    name: 'said',
    opening: /^Said by people and other agents:$/,
    lines: [/^- (Message MSG-\d+|Decision|Obstacle|Decided for task .*): .*$/],
  },
  {
    name: 'ledger',
    opening: /^So far:$/,
    lines: [
      /^(Required fixes|Blockers|Findings of the last review|Failing tests|Follow-ups):$/,
      /^(Last review|In the plan|Last result|First result|Changed files|Passing tests): .*$/,
      ITEM,
    ],
  },
  {
    name: 'replan',
    opening: /^Replan: .+$/,
    lines: [
      /^- [a-z_]+ \(\d+ times\), [a-z ,]+(: .*)?$/,
      /^Tried already, the newest last:$/,
      /^- (completed|blocked|failed)(: .*)?$/,
    ],
  },
  { name: 'guide', opening: /^Guide: .+$/, lines: [] },
  { name: 'learnings', opening: LEARNINGS_TITLE, lines: [LEARNING] },
  { name: 'facts', opening: /^\[Session Context\]$/, lines: [ITEM, PERHAPS, NOTES] },
  {
    name: 'recent',
    opening: /^\[Recent Steps\]$/,
    lines: [/^- (SUCCESS|FAILURE|DENIED|REQUEST:|PINNED:) .*$/],
  },
  { name: 'leftOut', opening: /^Left out for space: .*$/, lines: [] },
];

/** The compacted history before a prompt. */
export const SUMMARY: SectionRule = {
  name: 'summary',
  opening: /^\[Compacted History\]$/,
  lines: [
    /^Stands for \d+ earlier entries of intent .*, about \d+ tokens\.$/,
    /^(Original|Newest) request: .*$/,
    /^(Outcomes|Constraints|Requests between|Errors still unresolved|Completed steps|Runs that succeeded, to run again after a change|Decisions|Other files changed|Files read or used|Denied) \(\d+ of \d+( or more)?( tools)?(, newest first)?\):$/,
    ITEM,
  ],
};

const AGE = String.raw`( \((just now|[\d a-z]+ ago)\))?`;
/** What is left out of a list, and the command that shows it. */
const REST = '( \\(\\d+ of \\d+(, long ones shortened)?; all: `.*`\\))?';
const TASK_GROUP = new RegExp(`^(REMAINING|IN_PROGRESS|BLOCKED|COMPLETED)${REST}:$`);
const NOTE_GROUP = /^(LEARNING|STUCK|TIP|DECISION):$/;
const NOTES_TITLE = new RegExp(`^## Notes${REST}$`);

/** What may stand where the built-in template of an iteration has a placeholder. */
export const PLACEHOLDER_LINES: Readonly<Record<string, readonly RegExp[]>> = {
  goal: [/^Goal: .+$/],
  plan: [
    /^Plan: \d+ of \d+ done(, (next|in progress|none can be next)( .*)?)?(\. Drift: .*)?( \(the tasks .*\))?$/,
  ],
  begin: [/^0\. \*\*Begin the iteration\*\* - `.*`$/],
  spec: [/^>( .*)?$/, /^See .+$/, /^\(shortened: \d+ of \d+ lines?; whole: .*\)$/, /^(?![#>(]).+$/],
  learnings: [LEARNINGS_TITLE, LEARNING],
  sessionContext: [/^\[Session Context\]$/, ITEM, PERHAPS, NOTES],
  history: [
    new RegExp(String.raw`^- #\d+${AGE}: .*$`),
    new RegExp(`^-${REST}$`),
    /^(No iterations|Nothing) yet$/,
  ],
  inbox: [
    /^## Inbox$/,
    new RegExp(String.raw`^- \[MSG-\d+\]${AGE} .*$`),
    /^- \d+ more messages?, not shown here: `.*`$/,
  ],
  notes: [NOTES_TITLE, NOTE_GROUP, /^ {2}- \[NOT-\d+\] .*$/],
  tasks: [TASK_GROUP, /^ {2}- \[P[0-4]\] \[TAS-\d+\] .*$/, /^No tasks yet$/],
  // Not part of the memory: a request that is checked here gives none.
  extra: [],
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: one line without any of them is what is asked for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const FORGED =
  /\[\s*(session\s+context|compacted\s+history|recent\s+steps)|(BEGIN|END)_DISPATCH_RESULT|<[/!|]|(?<![\p{L}\p{N}_])<\p{L}|\[\/?INST\]/iu;
const PROVENANCE = /\[\s*task\s*:/i;

/** Throws where a line of memory is not one quoted line, or claims another origin than the format gives it. */
export function checkQuoted(line: string): void {
  const own = FACT.test(line) ? line.replace(/ \[task:[^[\]]*\]$/, '') : line;
  if (!line.isWellFormed() || UNSEEN.test(line))
    throw new Error(`unseen characters in ${JSON.stringify(line)}`);
  if (FORGED.test(own)) throw new Error(`a forged header, marker or role in ${JSON.stringify(line)}`);
  if (PROVENANCE.test(own)) throw new Error(`a forged provenance in ${JSON.stringify(line)}`);
}

/** The sections of a dispatch prompt. */
export function dispatchSections(
  compiled: Pick<CompiledPrompt, 'prompt'>,
  request: DispatchRequest,
): Section[] {
  const lines = compiled.prompt.split('\n');
  const found: Section[] = [];
  if (SUMMARY.opening.test(lines[0] ?? '')) found.push(taken(lines, SUMMARY));
  const prefix = (request.systemPrompt ?? stablePrefix(request.role)).split('\n');
  if (lines.splice(0, prefix.length).join('\n') !== prefix.join('\n'))
    throw new Error('the stable prefix is not where it belongs');
  separated(lines);
  for (const rule of TAIL_SECTIONS) if (rule.opening.test(lines[0] ?? '')) found.push(taken(lines, rule));
  if (lines.shift() !== 'Task prompt:')
    throw new Error('a section that is none of ours, or out of its order');
  const taskPrompt = lines.join('\n');
  if (!(request.taskPrompt ?? '').startsWith(taskPrompt.split('\n')[0] ?? ''))
    throw new Error('the task prompt is another one');
  return [...found, { name: 'taskPrompt', lines: taskPrompt.split('\n') }];
}

/** The sections of an iteration prompt made from the built-in template, by their placeholders. */
export function iterationSections({ prompt }: Pick<CompiledPrompt, 'prompt'>): Section[] {
  const lines = prompt.split('\n');
  const found: Section[] = [];
  if (SUMMARY.opening.test(lines[0] ?? '')) found.push(taken(lines, SUMMARY));
  const open = lines.filter((line) => line !== '');
  const built = prompt.includes('### Task Management') ? ITERATION_TEMPLATE : PLAN_TEMPLATE;
  const template = built.split('\n').filter((line) => line.trim() !== '');
  for (const [index, line] of template.entries()) {
    const placeholder = /^\{\{(\w+)\}\}$/.exec(line)?.[1];
    if (placeholder === undefined) {
      const given = open.shift() ?? '';
      if (!fits(given, line))
        throw new Error(`${JSON.stringify(given)} stands where the template has ${line}`);
      continue;
    }
    const next = template[index + 1];
    const rules = PLACEHOLDER_LINES[placeholder] ?? [];
    const own: string[] = [];
    const further = (line: string) =>
      rules.some((rule) => rule.test(line)) &&
      !(next !== undefined && !/^\{\{\w+\}\}$/.test(next) && fits(line, next)) &&
      !opensAnother(line, placeholder);
    while (open[0] !== undefined && further(open[0]))
      own.push(memoryLine(open.shift() ?? '', placeholder, rules));
    if (placeholder === 'sessionContext') checkNotes(own);
    found.push({ name: placeholder, lines: own });
  }
  const recent = TAIL_SECTIONS.find(({ name }) => name === 'recent');
  if (recent?.opening.test(open[0] ?? '')) found.push(taken(open, recent));
  if (open.length > 0) throw new Error(`after its end the prompt holds ${JSON.stringify(open[0])}`);
  return found;
}

/** Takes a section up to the empty line that ends it. */
function taken(lines: string[], { name, lines: rules }: SectionRule): Section {
  const opening = lines.shift() ?? '';
  if (!opening.startsWith('[')) checkQuoted(opening);
  const own: string[] = [];
  while (lines.length > 0 && lines[0] !== '') own.push(memoryLine(lines.shift() ?? '', name, rules));
  if (lines.length > 0) separated(lines);
  if (name === 'facts') checkNotes(own);
  return { name, lines: own };
}

function separated(lines: string[]): void {
  if (lines.shift() !== '') throw new Error('two sections are not separated by an empty line');
}

function memoryLine(line: string, name: string, rules: readonly RegExp[]): string {
  if (!rules.some((rule) => rule.test(line)))
    throw new Error(`${JSON.stringify(line)} is not a line of ${name}`);
  if (line !== '[Session Context]') checkQuoted(line);
  return line;
}

/** Lines that open what stands in place of a placeholder. */
const OPENINGS: Readonly<Record<string, RegExp>> = {
  goal: /^Goal: /,
  plan: /^Plan: /,
  learnings: LEARNINGS_TITLE,
  sessionContext: /^\[Session Context\]$/,
  inbox: /^## Inbox$/,
  notes: NOTES_TITLE,
};

function opensAnother(line: string, placeholder: string): boolean {
  return Object.entries(OPENINGS).some(([name, opening]) => name !== placeholder && opening.test(line));
}

/** Whether a line is one of the template, with something of one line in place of each placeholder. */
function fits(line: string, template: string): boolean {
  const escaped = template.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\\\{\\\{\w+\\\}\\\}/g, '.*')}$`).test(line);
}
