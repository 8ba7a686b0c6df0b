import { BLOCKED_BY, RELATIONS } from '../contracts/relations.js';
import type { TaskLedger } from '../ledger/task-ledger.js';
import type { RankedFact, SessionFact } from '../memory/facts/fact-types.js';
import type { LikelyFile } from '../memory/search/likely-files.js';
import { tokens } from '../memory/search/tokens.js';
import { clipSummary, clipText, dayOf, distinctTexts, quoted } from '../shared/text.js';
import { isImplied, originText, statementText } from '../shared/wire-words.js';
import { excerpts, type Item } from './fill-prompt.js';

/** Lines of the session context. Each ends with where it comes from and when: `[M7, task:8 41b2c7d, 3 Mar]`. */

const LINE = { least: 100, step: 60 };
/** Limit of a fact with its fix; a result's demands and files follow it. */
const MAX_SAYING = 1000;
const SHOWN_FILES = 3;
const SHOWN_DEMANDS = 2;
const MAX_DEMAND = 160;
/** Share of a finding's words in a summary that says it. */
const COVERED = 0.6;

/** The lines of a prompt need this beside their facts. */
export interface NoteContext {
  /** Named by each line, if the reader asked for several sessions. */
  readonly session?: string;
  /** Time of the session's newest event, and of the request if it has one. */
  readonly newest: string;
  readonly now: string | undefined;
  readonly commitOf: (task: string) => string | undefined;
  /** The branch of a fact, if it is not the reader's and was not merged. */
  readonly otherBranchOf: (fact: SessionFact) => string | undefined;
  /** True if the reader can look at the task: it is on the board or in the plan. */
  readonly isOpen: (task: string) => boolean;
  readonly missing: readonly string[];
  readonly replaced: ReadonlyMap<string, SessionFact>;
}

export function noteItem(ranked: RankedFact, more: readonly string[], context: NoteContext): Item {
  const { fact } = ranked;
  const saying = sayingOf(ranked);
  const first = clipText(saying, MAX_SAYING);
  const longer = more.map((_, at) => quoted([first, ...more.slice(0, at + 1)].join(' ')));
  const from = referenceOf(fact, context);
  const line = (text: string) => `- ${text}${from}`;
  return {
    whole: line(longer.at(-1) ?? first),
    get forms() {
      const matchedTokens = new Set(ranked.matched);
      const matters = (word: string) => tokens(`/${word}`).some((token) => matchedTokens.has(token));
      return [...excerpts(saying, matters, { ...LINE, most: MAX_SAYING }), ...longer].map(line);
    },
  };
}

const REQUIRED_HOW: Readonly<Record<string, string>> = {
  [BLOCKED_BY]: 'blocked: ',
  [RELATIONS.suggested]: 'suggested: ',
};

/** Prefixes of our own lines, which agents' text must not imitate. */
const HEAD = /^(?:critical|important|minor|issue|required[ _]fix|blocked|suggested|review)\s*[:,]/iu;

function sayingOf(ranked: RankedFact): string {
  const head = headOf(ranked);
  const saying = quoted(`${head}${wordsOf(ranked)}`);
  return head === '' && HEAD.test(saying) ? `the task said: ${saying}` : saying;
}

function headOf({ fact: { subject, relation, severity, sourceTaskId }, group }: RankedFact): string {
  const ownTask = subject === `task:${sourceTaskId}`;
  switch (group) {
    case 'findings': {
      const kind = severity ?? (relation === 'must_fix' ? 'required fix' : 'issue');
      return `${ownTask ? kind : `${kind}, ${subject}`}: `;
    }
    case 'work':
      return relation === 'review_summary' || relation === 'reviewed_as' ? 'Review: ' : '';
    case 'requirements':
      return ownTask ? (REQUIRED_HOW[relation] ?? '') : '';
    default:
      return '';
  }
}

function wordsOf({ fact, group }: RankedFact): string {
  const { subject, relation, object, fix, sourceTaskId } = fact;
  const ownTask = subject === `task:${sourceTaskId}`;
  switch (group) {
    case 'findings':
      return fix === undefined ? object : `${object}${/[.!?]$/.test(object) ? '' : '.'} Fix: ${fix}`;
    case 'tests':
      return `${subject.replace(/^test:/, '')}: ${testSaying(object, ` in task:${sourceTaskId}`)}`;
    case 'work':
      return object;
    case 'requirements':
    case 'conventions':
    case 'decisions':
      return statementText(fact, sourceTaskId);
    case 'files':
      return `${subject} was changed`;
    case 'facts':
      if (ownTask && relation === RELATIONS.found) return `Found: ${object}`;
      if (!ownTask || isImplied(relation)) return statementText(fact, sourceTaskId);
      return HEAD.test(`${relation}:`) ? `the task ${relation} ${object}` : `${relation}: ${object}`;
  }
}

function testSaying(object: string, inTask: string): string {
  if (object === `passed${inTask}`) return 'passed';
  const failed = `failed${inTask}: `;
  return object.startsWith(failed) ? object.slice(failed.length) : object;
}

/** Says how a task went on after a failed attempt, so that one that was overcome does not read as one that stands. */
export function laterPart(fact: SessionFact, ledger: TaskLedger | undefined): string[] {
  const { summary, last } = ledger ?? {};
  const isOvercome = last?.verdict === 'completed' || last?.verdict === 'approved';
  if (!isOvercome || summary === undefined || fact.subject !== `task:${fact.sourceTaskId}`) return [];
  return quoted(summary) === fact.object ? [] : [`| Then: ${clipSummary(quoted(summary), MAX_LATER)}`];
}

const MAX_LATER = 160;

/** Renders findings of a task's reviews: open ones, and settled ones unless the summary already says so. */
export function demandsPart(findings: readonly SessionFact[], summary: string): string[] {
  if (findings.length === 0) return [];
  const textsOf = (isOpen: boolean) => {
    const found = findings.filter((fact) => isOpen === (fact.validTo === undefined));
    return distinctTexts(found.map((fact) => fact.object));
  };
  const open = textsOf(true);
  const done = new Set(tokens(`/${summary}`));
  const settled = textsOf(false).filter((text) => !open.includes(text) && !isCovered(text, done));
  const part = (title: string, all: readonly string[]) => {
    const texts = all.map((text) => clipText(text, MAX_DEMAND));
    return texts.length === 0 ? [] : [`| ${title}: ${listed(texts, SHOWN_DEMANDS, '; ')}`];
  };
  return [...part('Open', open), ...part('Review (settled)', settled)];
}

function isCovered(text: string, words: ReadonlySet<string>): boolean {
  const textTokens = tokens(`/${text}`);
  return textTokens.filter((word) => words.has(word)).length >= COVERED * textTokens.length;
}

export function filesPart(files: readonly string[]): string[] {
  return files.length === 0 ? [] : [`| Files: ${listed(files, SHOWN_FILES, ', ')}`];
}

function listed(all: readonly string[], most: number, separator: string): string {
  const rest = all.length > most ? ` and ${all.length - most} more` : '';
  return `${all.slice(0, most).join(separator)}${rest}`;
}

const MAX_REPLACED = 60;

export function perhapsLine(files: readonly LikelyFile[]): string {
  return `Perhaps these files: ${files.map(({ path }) => quoted(path)).join(', ')}`;
}

/** Returns who said it; empty for an agent, unless it answered. */
function speaker(fact: SessionFact): string[] {
  const who = fact.answer?.by ?? originText(fact);
  return who === undefined ? [] : [quoted(who).replace(/[[\]]/g, '')];
}

const SHORT_COMMIT = 7;
/** A task that is only the name of a conversation: see `turnTask`. */
const CONVERSATION = /^([a-z]+)-[0-9a-f]{6}$/;

/** Stands before the old name of a file in a line that says itself that it is gone. */
const GONE = /\b(?:renamed|moved|deleted|removed) (?:[^\s,]+, ){0,3}$/i;

/**
 * Returns where a fact comes from: what it replaced, its id, who said it, its task with the commit, and the day. Only its id,
 * who said it and the day, if it is to be brief. A file that it names and that is gone comes last.
 */
export function referenceOf(fact: SessionFact, context: NoteContext, isBrief = false): string {
  const { ref, sourceTaskId: task, validFrom, scope } = fact;
  const { session, newest, now, isOpen, commitOf, otherBranchOf, missing, replaced } = context;
  const before = replaced.get(ref ?? '');
  const day = dayOf(validFrom, newest, now);
  const names = (path: string) => {
    const at = fact.object.indexOf(path);
    return at >= 0 && !GONE.test(fact.object.slice(0, at));
  };
  const absent = missing.find((path) => fact.subject === path || names(path));
  const end = absent === undefined ? day : `${day}, not found here: ${quoted(absent).replace(/[[\]]/g, '')}`;
  const branch = otherBranchOf(fact);
  const on = branch === undefined ? [] : [`on ${quoted(branch).replace(/[[\]]/g, '')}`];
  const where =
    scope === undefined ? [] : [quoted(Object.values(scope).flat().join(' ')).replace(/[[\]]/g, '')];
  if (isBrief && ref !== undefined)
    return ` [${[ref, ...((fact.by ?? fact.answer?.by) === undefined ? [] : speaker(fact)), ...where, ...on, end].join(', ')}]`;
  // What it replaced is said, so that nobody goes back to it unknowingly.
  const instead = before && ` (replaces: ${clipText(quoted(before.object), MAX_REPLACED)})`;
  const from = [
    // The id of another session's statement must not pass for one of the reader's own.
    ...(session === undefined ? [] : [ref === undefined ? session : `${session}/${ref}`]),
    ...(ref === undefined || session !== undefined ? [] : [ref]),
    ...speaker(fact),
    ...where,
    ...on,
    ...(ref === undefined || (ref !== task && isOpen(task)) ? [taskName(task, commitOf(task))] : []),
    end,
  ];
  return `${instead ?? ''} [${from.join(', ')}]`;
}

function taskName(task: string, commit = ''): string {
  const [, client] = CONVERSATION.exec(task) ?? [];
  // A bracket in a task id would end the reference early.
  const name = client ?? `task:${quoted(task).replace(/[[\]]/g, '')}`;
  const short = /^[0-9a-f]{7}/.test(commit) ? commit.slice(0, SHORT_COMMIT) : '';
  return short === '' || task.startsWith(short) ? name : `${name} ${short}`;
}
