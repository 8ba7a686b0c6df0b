import { KEPT } from '../../contracts/kept-limits.js';
import {
  bySeverity,
  KINDS,
  kindOf,
  questionsOf,
  type ResultField,
  ROLES,
  type Role,
  verdictIn,
} from '../../contracts/kinds.js';
import type { StatementScope } from '../../contracts/recorded-fact.js';
import { BLOCKED_BY, RELATIONS, relationOf } from '../../contracts/relations.js';
import type { AnyResult, ResultOf, RoleResult, TestRun } from '../../contracts/results.js';
import { defined } from '../../shared/collections.js';
import { clipSummary, clipText, conclusionOf, oneLine, quoted } from '../../shared/text.js';
import { decided, sentencesOf } from '../traces/sentences.js';
import { isOwnChoice } from '../traces/stated-lines.js';
import {
  bytesOfFact,
  type DispatchOrigin,
  factId,
  type IFactExtractor,
  type RecordedFact,
  recordedFact,
  type SessionFact,
  type SessionFactTag,
  saysTheSame,
} from './fact-types.js';

/** The extraction rules, each from one field of a result to facts. Pure. Add a new rule at the end of the array. */
export interface ExtractionRule {
  readonly name: string;
  /** The field that it reads; it runs for kinds with that field. Left out: for every kind. */
  readonly field?: ResultField;
  readonly extract: (result: AnyResult, taskId: string, role: Role) => readonly RecordedFact[];
}

/** A general rule, not a fault in one place: `never` and `do not` inside a sentence usually describe the fault at hand. */
export const CONVENTION =
  /(?:^|[.;:] |\b(?:must|should|shall|please) )(?:always|never)\b|^(?:all|each|every) [^.]{1,80} (?:must|should|shall|is|are|has|have|use|uses|go|goes|ends?|returns?)\b|\b(?:conventions?|everywhere|across the (?:code ?base|repo(?:sitory)?)|(?:in|for) (?:all|every|each) (?:file|test|module|function|package)s?)\b/i;

/** The built-in rules, in order. */
export const EXTRACTION_RULES: readonly ExtractionRule[] = [
  {
    name: 'verdict',
    extract: (result, taskId, role) => {
      const { verdict: relation } = kindOf(role).relations;
      const verdict = verdictIn(role, result);
      if (relation === undefined || verdict === undefined) return [];
      return facts(task(taskId), relation, [verdict], ['decision']);
    },
  },
  {
    name: 'summary',
    field: 'summary',
    extract: ({ summary }, taskId, role) =>
      summary === undefined
        ? []
        : facts(task(taskId), KINDS[role].relations.summary, [summary], ['decision']),
  },
  {
    name: 'files_modified',
    field: 'files_modified',
    extract: (result, taskId) => {
      const by = task(taskId);
      return factsFrom(result.files_modified, (file) =>
        recordedFact(file, RELATIONS.changedBy, by, ['file_change']),
      );
    },
  },
  listed('follow_up_actions', RELATIONS.requires, ['dependency']),
  {
    name: 'tests',
    field: 'tests',
    extract: (result, taskId) => (result.tests ?? []).flatMap((run) => testFacts(run, taskId)),
  },
  {
    name: 'issues',
    field: 'issues',
    extract: (result, taskId) =>
      factsFrom(bySeverity(result.issues ?? []), ({ file = task(taskId), message, severity, fix }) =>
        recordedFact(file, RELATIONS.issue, message, ['error'], { severity, fix }),
      ),
  },
  listed('required_fixes', RELATIONS.requiredFix, ['convention']),
  {
    // An approval closes issues and required fixes; a convention stays until the task's next one.
    name: 'conventions',
    field: 'issues',
    extract: ({ issues = [], required_fixes = [] }, taskId) => {
      const stated = issues.map(({ message }) => message).filter((message) => CONVENTION.test(message));
      const required = required_fixes.filter((fix) =>
        CONVENTION.test(clipText(quoted(fix), KEPT.fact.object)),
      );
      return facts(task(taskId), RELATIONS.convention, [...stated, ...required], ['convention']);
    },
  },
  {
    name: 'facts',
    extract: ownFacts,
  },
  {
    // The approval closes its own findings, so its remaining wishes are suggestions.
    name: 'suggestions',
    field: 'required_fixes',
    extract: ({ assessment, required_fixes }, taskId) =>
      assessment === 'approved'
        ? facts(task(taskId), RELATIONS.suggested, required_fixes, ['dependency'])
        : [],
  },
  named('branch'),
  listed('blockers', BLOCKED_BY, ['dependency', 'error']),
  named('commit'),
  {
    // A decision that only the summary states. It outlives the next summary of the task.
    name: 'decisions',
    field: 'summary',
    extract: (result, taskId, role) => {
      if (kindOf(role).part === 'review') return [];
      const choices = sentencesOf(clipText(quoted(result.summary ?? ''), KEPT.fact.object)).filter(
        isOwnChoice,
      );
      const isKnown =
        choices.length === 0 || ownFacts(result, taskId, role).some(({ tags }) => tags.includes('decision'));
      return isKnown ? [] : facts(task(taskId), RELATIONS.decided, choices.map(decided), ['decision']);
    },
  },
  {
    // Later tasks must not try again what failed.
    name: 'failed',
    field: 'summary',
    extract: ({ status, summary }, taskId) =>
      status === 'failed' && summary !== undefined
        ? facts(task(taskId), RELATIONS.failed, [summary], ['error'])
        : [],
  },
  {
    name: 'questions',
    extract: (result, taskId, role) => {
      const { questions, blockers } = result;
      if (questions === undefined && blockers === undefined) return [];
      const texts = questionsOf(result, verdictIn(role, result)).map(({ text }) => text);
      return facts(task(taskId), RELATIONS.asks, texts, []);
    },
  },
];

/** Returns the rule that states each text of a list about the task. */
function listed(
  name: 'follow_up_actions' | 'required_fixes' | 'blockers',
  relation: string,
  tags: readonly SessionFactTag[],
): ExtractionRule {
  return {
    name,
    field: name,
    extract: (result, taskId) => facts(task(taskId), relation, result[name], tags),
  };
}

function named(name: 'branch' | 'commit'): ExtractionRule {
  const valuesIn = ({ [name]: value }: AnyResult) => (value === undefined ? [] : [value]);
  return { name, extract: (result, taskId) => facts(task(taskId), RELATIONS[name], valuesIn(result), []) };
}

/** Returns the facts that an event stores: the explicit ones, and artifacts, which the outcome does not keep. */
export function ownFacts(
  { facts = [], artifacts = [] }: Pick<AnyResult, 'facts' | 'artifacts'>,
  _taskId: string,
  role: Role,
): RecordedFact[] {
  const explicit = factsFrom(
    facts,
    ({ subject, relation, object, tags = [], origin, by = '', replaces = [], not_shown = [], scope }) => {
      const name = relationOf(relation);
      const fact = recordedFact(subject, DECIDES.test(name) ? RELATIONS.decided : name, object, tags);
      // Only what records a conversation can hold words of its user.
      const isOfUser = origin === 'user' && kindOf(role).part === 'note';
      const isPlain = !isOfUser && replaces.length + not_shown.length === 0 && scope === undefined;
      if (fact === undefined || isPlain) return fact;
      return {
        ...fact,
        ...(isOfUser && {
          origin: 'user' as const,
          ...(quoted(by) !== '' && { by: clipText(quoted(by), MAX_NAME) }),
        }),
        ...(replaces.length > 0 && { replaces }),
        ...(not_shown.length > 0 && { not_shown }),
        ...recordedScope(scope),
      };
    },
  );
  const defined = factsFrom(artifacts, ({ kind = 'artifact', name, signature = name, location }) =>
    recordedFact(
      `${kind}:${name}`,
      RELATIONS.defined,
      `${signature}${location === undefined ? '' : ` in ${location}`}`,
      [],
    ),
  );
  return [...explicit, ...defined];
}

/** Other forms of the relation by which a newer decision about a subject ends the older one. */
const DECIDES = /^(?:decides?|decided_(?:on|to)|decisions?|chose|chosen|chooses?)$/;
const MAX_PATHS = 10;
const MAX_NAME = 128;

export function recordedScope({ task, paths, branch }: StatementScope = {}): { scope?: StatementScope } {
  const short = (part: string) => clipText(quoted(part), KEPT.fact.subject);
  const parts = { task: task && short(task), paths: paths?.slice(0, MAX_PATHS).map(short) };
  const scope = defined({ ...parts, branch: branch && short(branch) });
  return Object.keys(scope).length === 0 ? {} : { scope };
}

function task(taskId: string): string {
  return `task:${taskId}`;
}

// One relation for both outcomes, so that a later pass closes earlier failures.
function testFacts(run: TestRun, taskId: string): RecordedFact[] {
  const subject = `test:${run.command}`;
  if (run.passed) return facts(subject, RELATIONS.test, [`passed in ${task(taskId)}`], ['test']);
  const failures = run.failures?.length ? run.failures : [undefined];
  return facts(
    subject,
    RELATIONS.test,
    failures.map((failure) => failedIn(taskId, failure)),
    ['test', 'error'],
  );
}

/** Words a failure as the fact of its test; a retraction is matched by it. */
export function failedIn(taskId: string, failure = 'no failure text given'): string {
  return `failed in ${task(taskId)}: ${failure}`;
}

function facts(
  subject: string,
  relation: string,
  objects: readonly string[] | undefined,
  tags: readonly SessionFactTag[],
): RecordedFact[] {
  return factsFrom(objects, (object) => recordedFact(subject, relation, object, tags));
}

function factsFrom<Item>(
  items: readonly Item[] | undefined,
  toFact: (item: Item) => RecordedFact | undefined,
): RecordedFact[] {
  const found: RecordedFact[] = [];
  // A result that was not read by the contract may hold a lone text, which is a list of one and not of its letters.
  for (const item of typeof items === 'string' ? [items as Item] : (items ?? [])) {
    const fact = toFact(item);
    if (fact !== undefined) found.push(fact);
  }
  return found;
}

/** Custom rules and limits. */
export interface FactExtractorOptions {
  readonly rules?: readonly ExtractionRule[];
  /** Called if a rule throws; the other rules still run. */
  readonly onRuleFailure?: (rule: string, error: unknown) => void;
  readonly maxFacts?: number;
}

/** The facts of one result. */
export interface Extraction {
  readonly facts: readonly RecordedFact[];
  /** Number of further facts, beyond `maxFacts` or the event's size: they stay in the dispatch only. */
  readonly omitted: number;
}

/** Runs the rules in order. Deterministic. */
export class RuleBasedFactExtractor implements IFactExtractor {
  readonly #rules: Readonly<Record<Role, readonly ExtractionRule[]>>;
  readonly #onRuleFailure: (rule: string, error: unknown) => void;
  readonly #maxFacts: number;

  constructor(options: FactExtractorOptions = {}) {
    this.#rules = options.rules === undefined ? RULES_BY_ROLE : rulesByRole(options.rules);
    this.#onRuleFailure = options.onRuleFailure ?? (() => {});
    this.#maxFacts = options.maxFacts ?? KEPT.fact.perDispatch;
  }

  extractFromImplementer(result: ResultOf<'implementer'>, origin: DispatchOrigin): SessionFact[] {
    return this.#extractFrom({ role: 'implementer', result }, origin);
  }

  extractFromReviewer(result: ResultOf<'reviewer'>, origin: DispatchOrigin): SessionFact[] {
    return this.#extractFrom({ role: 'reviewer', result }, origin);
  }

  /** Extracts the facts of a result for its event, without duplicates. */
  extract(returned: RoleResult, taskId: string): Extraction {
    const { role, result } = withShortSummary(returned);
    const facts: RecordedFact[] = [];
    let omitted = 0;
    let bytes = 0;
    for (const rule of this.#rules[role]) {
      try {
        for (const fact of rule.extract(result, taskId, role)) {
          // A linear search: hashing a few facts would take longer.
          if (facts.some((known) => saysTheSame(known, fact))) continue;
          const size = bytesOfFact(fact);
          if (facts.length < this.#maxFacts && bytes + size <= KEPT.fact.bytesPerDispatch) {
            facts.push(fact);
            bytes += size;
          } else omitted += 1;
        }
      } catch (error) {
        this.#onRuleFailure(rule.name, error);
      }
    }
    return { facts, omitted };
  }

  #extractFrom(returned: RoleResult, origin: DispatchOrigin): SessionFact[] {
    const { facts } = this.extract(returned, origin.taskId);
    const history = returned.result.history === true && { history: true as const };
    return facts.map((fact) => sessionFact(fact, { ...origin, ...history, role: returned.role }));
  }
}

function rulesByRole(rules: readonly ExtractionRule[]): Record<Role, ExtractionRule[]> {
  const runs = (role: Role) =>
    rules.filter(({ field }) => field === undefined || kindOf(role).fields.includes(field));
  return Object.fromEntries(ROLES.map((role) => [role, runs(role)])) as Record<Role, ExtractionRule[]>;
}

const RULES_BY_ROLE = rulesByRole(EXTRACTION_RULES);

export function sessionFact(fact: RecordedFact, origin: DispatchOrigin, eventSequence = 0): SessionFact {
  const finding = fact.severity && { severity: fact.severity, ...(fact.fix && { fix: fact.fix }) };
  return {
    id: factId(fact),
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    tags: fact.tags,
    ...finding,
    validFrom: origin.at,
    sourceTaskId: origin.taskId,
    sourceRole: origin.role,
    sourceSequence: origin.sequence,
    eventSequence,
    confidence: fact.confidence ?? 1,
    ...(fact.origin !== undefined && { origin: fact.origin }),
    ...(fact.by !== undefined && { by: fact.by }),
    ...(fact.ref !== undefined && { ref: fact.ref }),
    ...(fact.scope !== undefined && { scope: fact.scope }),
    ...(origin.history && { history: origin.history }),
  };
}

/** Shortens a summary that is too long for an event: to its conclusion, if it has one, else to its beginning. */
export function withShortSummary<Returned extends RoleResult>(returned: Returned): Returned {
  const { summary } = returned.result as Pick<AnyResult, 'summary'>;
  const { text: most } = KEPT.outcome;
  if (summary === undefined || summary.length <= most) return returned;
  const short = clipSummary(oneLine(conclusionOf(summary, most)), most);
  return { ...returned, result: { ...returned.result, summary: short } };
}
