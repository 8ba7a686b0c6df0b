import { counted, quoted } from './text.js';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  approved: 'good',
  in_progress: 'info',
  'in-progress': 'info',
  blocked: 'warn',
  needs_changes: 'warn',
  failed: 'bad',
  rejected: 'bad',
};

export function toneOf(word: string): Tone {
  return TONES[word] ?? 'quiet';
}

/** Returns `needs_changes` as `needs changes`, and `inProgress` as `in progress`. */
export function spaced(word: string): string {
  return word.replaceAll(/[_-]|(?=[A-Z])/g, ' ').toLowerCase();
}

/** Returns the state of a board or plan task in words; the wire says `remaining` for pending. */
export function statusText(status: string): string {
  return status === 'remaining' ? 'pending' : spaced(status);
}

/** True for a relation that the title of its section says. */
export function isImplied(relation: string): boolean {
  return ['decided', 'convention', 'rule', 'found', 'failed'].includes(relation);
}

/**
 * Renders a statement as a sentence: `polling: a jobs table`, not `polling decided a jobs table`; the object alone if it names
 * its subject, or if that is its own task.
 */
export function statementText(
  statement: Readonly<Record<'subject' | 'relation' | 'object', string>>,
  task: string,
): string {
  const { subject, relation, object } = statement;
  if (subject === `task:${task}`) return object;
  if (!isImplied(relation)) return `${subject} ${relation.replaceAll('_', ' ')} ${object}`;
  return object.toLowerCase().includes(subject.toLowerCase()) ? object : `${subject}: ${object}`;
}

/** Stands between an agent's question and the user's answer to it in the next turn. */
export const ANSWERED = ' The user: "';

/** Begins a sentence that the user wrote; any other statement of a user is a line of the agent. */
export const BY_USER = 'The user: ';

/** Stands where a person has no name. */
export const UNNAMED = 'a person';

/**
 * Names who states something: `ann`, without a name `person` or `user`, and whether an agent wrote the line for the user;
 * undefined for an agent.
 */
export function originText({ origin, by = UNNAMED, object }: Stated): string | undefined {
  const who = by === UNNAMED ? origin : quoted(by);
  return origin === 'user' && !object.includes(BY_USER) ? `${who}, by the agent's line` : who;
}

/** Does the same for a sentence: `ann`, `the person`. */
export function speakerText(fact: Stated): string {
  return `${fact.by === undefined || fact.by === UNNAMED ? 'the ' : ''}${originText(fact)}`;
}

type Stated = { readonly origin?: string; readonly by?: string; readonly object: string };

const NEXT: Readonly<Record<string, string>> = {
  dispatch_reviewer: 'a review',
  retry_with_constraints: 'a retry within the constraints that block it',
  retry: 'a retry',
  next_task: 'the next task',
  spec_completed: 'nothing: the plan is done',
  dispatch_fixes: 'the fixes',
  halt_and_escalate: 'a person’s decision',
  wait_for_answer: 'your answer',
};

/** Names who left a message or wrote a task. It stands before the text, which cannot forge it there. */
export function leftBy(by: string | undefined): string {
  return by === undefined ? '' : ` from ${quoted(by)}`;
}

/** Names an agent that speaks: the name is a claim. */
export function agentText(name: string): string {
  return `an agent (${name})`;
}

/** Returns who spoke, as a request names it, from the words of an event. */
export function speakerIn(by: string): { by: string; person?: true } {
  const [, agent] = /^an agent \((.*)\)$/s.exec(by) ?? [];
  return agent === undefined ? { by, person: true } : { by: agent };
}

/** Names who claims a task: the name that an agent gives may be a person's. */
export function claimedBy(agent: string): string {
  return `claimed by agent ${quoted(agent)}`;
}

/** Returns the same in brackets behind a task; empty for one that no agent claims. */
export function claimNote(agent: string | undefined): string {
  return agent === undefined ? '' : ` (${claimedBy(agent)})`;
}

export function cameText(lastOutcome: string, nextAction = ''): string {
  return `${spaced(lastOutcome)}, next: ${nextText(nextAction)}`;
}

export function nextText(action: string): string {
  return NEXT[action] ?? spaced(action);
}

const SHOWN = {
  words: 'words of the task',
  file: 'a likely or open file',
  similar: 'a similar result',
  meaning: 'a similar meaning',
  recent: 'the budget that was left',
};

const LEFT = {
  rank: 'others came first, or it shares too little with the task',
  unlikely: 'it is not likely enough',
  'near-duplicate': 'another says nearly the same',
  'one task': 'its task has enough places',
  reserved: 'its places were reserved for findings and conventions',
  'likely file': 'a likely file says it already',
  budget: 'the budget was used up',
};

interface Considered {
  readonly because: keyof typeof SHOWN;
  readonly words: readonly string[];
  readonly left?: keyof typeof LEFT;
  readonly duplicateOf?: string;
}

export function whyShown({ because, words }: Pick<Considered, 'because' | 'words'>): string {
  return words.length === 0 ? SHOWN[because] : `${SHOWN[because]} (${words.join(', ')})`;
}

export function whyLeft({ left = 'rank', duplicateOf }: Pick<Considered, 'left' | 'duplicateOf'>): string {
  return duplicateOf === undefined ? LEFT[left] : `${LEFT[left]} (${duplicateOf})`;
}

const STALLS: Readonly<Record<string, string>> = {
  non_progress: 'blocked or failed',
  ping_pong: 'sent back by a review',
  same_fixes: 'the same fix required',
  same_test: 'the same test failing',
  same_files: 'the same files changed',
};

/**
 * `ping_pong 5: Bound the wait | same_files 4: a.ts` becomes `sent back by a review 5 times: … · the same files changed
 * …`.
 */
export function stallText(hint: string): string {
  return hint.replaceAll(
    /(^| \| )(non_progress|ping_pong|same_fixes|same_test|same_files) (\d+)(?=:|$| \| )/g,
    (_, before: string, signal: string, times: string) =>
      `${before === '' ? '' : ' · '}${STALLS[signal]} ${counted(Number(times), 'time')}`,
  );
}

interface Needs {
  readonly stalled: readonly { readonly task: string; readonly reason: string }[];
  readonly waiting: readonly string[];
}

export function needsText({ stalled, waiting }: Needs): string[] {
  return [...stalled.map(({ task, reason }) => `task ${task} is stalled: ${stallText(reason)}`), ...waiting];
}

/** Returns 0 for a session that waits for a person, 1 for one with a stalled task, else 2. */
export function needRank({ stalled, waiting }: Needs): 0 | 1 | 2 {
  return waiting.length > 0 ? 0 : stalled.length > 0 ? 1 : 2;
}

/** Returns true if a person must act on a task: it asks something, its review was halted, or it is blocked off the board. */
export function waitsForPerson(task: {
  readonly next_action: string;
  readonly stalled: boolean;
  readonly questions?: readonly unknown[];
  readonly board?: string;
}): boolean {
  const { next_action: next, stalled, questions = [], board } = task;
  const isBlocked = next === 'retry_with_constraints' && !stalled && board === undefined;
  return questions.length > 0 || next === 'halt_and_escalate' || isBlocked;
}

export const TOKEN_HEADER = 'x-throughline-token';
/** The inspector's feed of events, which takes the token as the query `token` too. */
export const LIVE_PATH = '/api/live';

/** Sections whose name is not their key in words. */
const SECTIONS: Readonly<Record<string, string>> = {
  prefix: 'Stable prefix',
  unreadable: 'Unreadable result',
  answers: 'Questions',
  ledger: 'So far',
  compacted: 'Compacted history',
  recent: 'Recent steps',
  notes: 'Session context',
  findings: 'Open findings',
  files: 'Likely files',
  decisions: 'Decisions and conventions',
  failed: 'Tried and failed',
  tried: 'Tried and failed',
  work: 'Related work',
  tests: 'Failing tests',
  requirements: 'Left to do by other tasks',
  facts: 'Also known',
  task: 'Task prompt',
  last: 'Last work',
  kept: 'Kept of the last turn',
};

export function sectionName(section = 'template'): string {
  return SECTIONS[section] ?? `${section.charAt(0).toUpperCase()}${spaced(section.slice(1))}`;
}

/** Names a result; one from another installation has no number of this one. */
export function resultName(dispatch: number | undefined): string {
  return Number(dispatch) > 0 ? `result ${dispatch}` : 'an imported result';
}

/** Returns the ids of the statements that a text names as its sources, such as `M7` in `[M7, 3 Nov]`. */
export function statementsIn(text: string): string[] {
  const named = text.matchAll(/\[([MN]\d+(?:[.v]\d+)*)[,\]]/g);
  return [...new Set([...named].flatMap(([, id]) => id ?? []))];
}
