import { clipText, oneLine } from '../text.js';
import type { RoleResult } from './results.js';
import type { DispatchOutcome } from './session-events.js';

/**
 * The part of a result that goes onto its event beside the facts: whole in shape, bounded in size. The dispatch
 * itself keeps every byte; an event must fit one message and be read at each replay. A key without a value is left
 * out: a replayed event must equal the live one, and `delete` would make every later step on the object slow.
 */

/** Longest text of an outcome, in characters. */
const MAX_TEXT = 500;
/** Longest list of an outcome. */
const MAX_LIST = 50;

/** What an event says of a result. */
export function outcomeOf(
  returned: RoleResult,
  dispatch: { sequence: number; task: string; at: string },
): DispatchOutcome {
  if (returned.role === 'implementer') {
    const { status, summary, files_modified, tests, follow_up_actions, blockers, intent_id } =
      returned.result;
    return {
      ...dispatch,
      role: 'implementer',
      outcome: {
        status,
        summary: line(summary),
        ...(files_modified && { files_modified: lines(files_modified) }),
        ...(tests && {
          tests: tests.slice(0, MAX_LIST).map(({ command, passed, failures }) => ({
            command: line(command),
            passed,
            ...(failures && { failures: lines(failures) }),
          })),
        }),
        ...(follow_up_actions && { follow_up_actions: lines(follow_up_actions) }),
        ...(blockers && { blockers: lines(blockers) }),
        ...(intent_id !== undefined && { intent_id: line(intent_id) }),
      },
    };
  }
  const { assessment, strengths, issues, required_fixes, intent_id } = returned.result;
  return {
    ...dispatch,
    role: 'reviewer',
    outcome: {
      assessment,
      ...(strengths && { strengths: lines(strengths) }),
      ...(issues && {
        issues: issues.slice(0, MAX_LIST).map(({ severity, file, message, fix }) => ({
          severity,
          ...(file !== undefined && { file: line(file) }),
          message: line(message),
          ...(fix !== undefined && { fix: line(fix) }),
        })),
      }),
      ...(required_fixes && { required_fixes: lines(required_fixes) }),
      ...(intent_id !== undefined && { intent_id: line(intent_id) }),
    },
  };
}

function line(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function lines(texts: readonly string[]): string[] {
  return texts.slice(0, MAX_LIST).map(line);
}
