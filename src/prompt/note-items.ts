import { BLOCKED_BY, RELATIONS } from '../contracts/relations.js';
import type { RankedFact } from '../memory/facts/fact-types.js';
import type { LikelyFile } from '../memory/search/likely-files.js';
import { tokens } from '../memory/search/tokens.js';
import { clipText, distinctTexts, quoted } from '../shared/text.js';
import { excerpts, type Item } from './prompt-items.js';

/** The lines of the session context: each says its task once, at its end. */

/** Characters of a line without its task: of the shortest form, from one form to the next, and of the whole. */
const LINE = { least: 100, step: 60 };
/** A fact with its fix is shown whole up to here; a result's demands and files come after it. */
const MAX_SAYING = 1000;
const SHOWN_FILES = 6;
const SHOWN_DEMANDS = 3;

/** A fact in ever longer forms around the words that matched, then what its task led to. */
export function noteItem(ranked: RankedFact, more: readonly string[]): Item {
  const { fact, matched } = ranked;
  const saying = sayingOf(ranked);
  const first = clipText(saying, MAX_SAYING);
  const longer = more.map((_, at) => quoted([first, ...more.slice(0, at + 1)].join(' ')));
  const line = (text: string) => `- ${text}${origin(fact.sourceTaskId)}`;
  return {
    whole: line(longer.at(-1) ?? first),
    get forms() {
      const asked = new Set(matched);
      const matters = (word: string) => tokens(`/${word}`).some((token) => asked.has(token));
      return [...excerpts(saying, matters, { ...LINE, most: MAX_SAYING }), ...longer].map(line);
    },
  };
}

/** A fact as it is or not at all: without words that matter, no part of it is worth more than another. */
export class RestItem implements Item {
  readonly #ranked: RankedFact;
  #line: string | undefined;

  constructor(ranked: RankedFact) {
    this.#ranked = ranked;
  }

  /** Made when it is asked for: most are never shown. */
  get whole(): string {
    const { sourceTaskId: task } = this.#ranked.fact;
    this.#line ??= `- ${clipText(sayingOf(this.#ranked), MAX_SAYING)}${origin(task)}`;
    return this.#line;
  }

  get forms(): readonly string[] {
    return [this.whole];
  }
}

/** What is left to do is not all work that a task left for others. */
const REQUIRED_HOW: Readonly<Record<string, string>> = {
  [BLOCKED_BY]: 'blocked: ',
  [RELATIONS.suggested]: 'suggested: ',
};

/** How lines of findings, of blockers, of suggestions and of reviews begin: what agents wrote may not look like one. */
const HEAD = /^(?:critical|important|minor|issue|required[ _]fix|blocked|suggested|review)\s*[:,]/iu;

/** What a fact says beside its task, as one line. */
function sayingOf(ranked: RankedFact): string {
  const head = headOf(ranked);
  const saying = quoted(`${head}${wordsOf(ranked)}`);
  return head === '' && HEAD.test(saying) ? `the task said: ${saying}` : saying;
}

/** The head of a line that has one; otherwise empty. */
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
      return fix === undefined ? object : `${object}${ended(object)} Fix: ${fix}`;
    case 'tests':
      return `${subject.replace(/^test:/, '')}: ${testSaying(object, ` in task:${sourceTaskId}`)}`;
    case 'work':
      return object;
    case 'requirements':
    case 'conventions':
    case 'decisions':
      return ownTask ? object : `${subject} ${relation} ${object}`;
    case 'files':
      return `${subject} was changed`;
    case 'facts':
      if (!ownTask) return `${subject} ${relation} ${object}`;
      return HEAD.test(`${relation}:`) ? `the task ${relation} ${object}` : `${relation}: ${object}`;
  }
}

/** The failure, or `passed`: the line says at its end in which task. */
function testSaying(object: string, inTask: string): string {
  if (object === `passed${inTask}`) return 'passed';
  const failed = `failed${inTask}: `;
  return object.startsWith(failed) ? object.slice(failed.length) : object;
}

/** What the review of a task said, beside the open findings. */
export function demandsPart(demands: readonly string[]): string[] {
  const said = distinctTexts(demands);
  return said.length === 0 ? [] : [`| Review: ${listed(said, SHOWN_DEMANDS, '; ')}`];
}

export function filesPart(files: readonly string[]): string[] {
  return files.length === 0 ? [] : [`| Files: ${listed(files, SHOWN_FILES, ', ')}`];
}

/** The first few of a list, and how many more there are. */
function listed(all: readonly string[], most: number, separator: string): string {
  const rest = all.length > most ? ` and ${all.length - most} more` : '';
  return `${all.slice(0, most).join(separator)}${rest}`;
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? '' : '.';
}

/** The path, and of the tasks that touched it the one nearest to what is asked. */
export function fileLine({ path, tasks: [task = ''] }: LikelyFile): string {
  return `- ${quoted(path)}${origin(task)}`;
}

function origin(task: string): string {
  // A bracket in a task id would end the origin early.
  return ` [task:${quoted(task).replace(/[[\]]/g, '')}]`;
}
