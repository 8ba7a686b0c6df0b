import type { Verdict } from './kinds.js';
import type { AnyResult, TestRun } from './results.js';

/** Writes the JSON of the most common event in half the time of `JSON.stringify`, with the same bytes. */

interface ResultEvent {
  readonly v: number;
  readonly type: string;
  readonly at: string;
  readonly data: {
    readonly dispatch: {
      readonly sequence: number;
      readonly task: string;
      readonly at: string;
      readonly role: string;
      readonly outcome: Outcome;
      readonly checked?: number | undefined;
      readonly result_key?: string | undefined;
    };
    readonly facts: readonly unknown[];
    readonly facts_complete?: true | undefined;
    readonly facts_omitted?: number | undefined;
    readonly repairs?: readonly unknown[] | undefined;
    readonly repairs_omitted?: number | undefined;
  };
}
type Outcome = Omit<AnyResult, 'task_id' | 'result_id' | 'facts' | 'artifacts' | 'status' | 'assessment'> & {
  readonly status?: Verdict | undefined;
  readonly assessment?: Verdict | undefined;
};

/** Characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

export function resultEventJson({ v, type, at, data }: ResultEvent): string | undefined {
  if (data.facts_complete || data.facts.length > 0 || data.repairs !== undefined) return undefined;
  if (data.facts_omitted !== undefined || data.repairs_omitted !== undefined) return undefined;
  const { sequence, task, at: publishedAt, role, outcome, checked, result_key } = data.dispatch;
  const said = checked === undefined ? outcomeJson(outcome) : undefined;
  if (said === undefined) return undefined;
  const key = result_key === undefined ? '' : `,"result_key":${text(result_key)}`;
  const dispatch = `"sequence":${sequence},"task":${text(task)},"at":${text(publishedAt)},"role":"${role}","outcome":${said}${key}`;
  return `{"v":${v},"type":"${type}","at":${text(at)},"data":{"dispatch":{${dispatch}},"facts":[]}}`;
}

/** Keys in the order of the schema; results with issues or questions are rare and use `JSON.stringify`. */
function outcomeJson(outcome: Outcome): string | undefined {
  if (outcome.issues !== undefined || outcome.questions !== undefined) return undefined;
  let said = '';
  if (outcome.status !== undefined) said += `,"status":"${outcome.status}"`;
  if (outcome.assessment !== undefined) said += `,"assessment":"${outcome.assessment}"`;
  if (outcome.summary !== undefined) said += `,"summary":${text(outcome.summary)}`;
  if (outcome.files_modified !== undefined) said += `,"files_modified":${texts(outcome.files_modified)}`;
  if (outcome.tests !== undefined) said += `,"tests":${runs(outcome.tests)}`;
  if (outcome.follow_up_actions !== undefined)
    said += `,"follow_up_actions":${texts(outcome.follow_up_actions)}`;
  if (outcome.blockers !== undefined) said += `,"blockers":${texts(outcome.blockers)}`;
  if (outcome.strengths !== undefined) said += `,"strengths":${texts(outcome.strengths)}`;
  if (outcome.required_fixes !== undefined) said += `,"required_fixes":${texts(outcome.required_fixes)}`;
  if (outcome.intent_id !== undefined) said += `,"intent_id":${text(outcome.intent_id)}`;
  if (outcome.branch !== undefined) said += `,"branch":${text(outcome.branch)}`;
  if (outcome.commit !== undefined) said += `,"commit":${text(outcome.commit)}`;
  if (outcome.history !== undefined) said += `,"history":${outcome.history}`;
  return `{${said.slice(1)}}`;
}

function runs(tests: readonly TestRun[]): string {
  let said = '';
  for (const { command, passed, failures } of tests) {
    const failed = failures === undefined ? '' : `,"failures":${texts(failures)}`;
    said += `,{"command":${text(command)},"passed":${passed}${failed}}`;
  }
  return `[${said.slice(1)}]`;
}

function texts(items: readonly string[]): string {
  let said = '';
  for (const item of items) said += `,${text(item)}`;
  return `[${said.slice(1)}]`;
}

function text(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}
