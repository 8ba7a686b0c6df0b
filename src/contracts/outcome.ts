import { clipText, oneLine } from '../text.js';
import type { RoleResult } from './results.js';
import type { DispatchOutcome } from './session-events.js';

/**
 * The part of a result that goes onto its event beside the facts: whole in shape, bounded in size. The dispatch
 * itself keeps every byte; an event must fit one message and be read at each replay.
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
      outcome: compacted({
        status,
        summary: line(summary),
        files_modified: lines(files_modified),
        tests: tests
          ?.slice(0, MAX_LIST)
          .map((run) =>
            compacted({ command: line(run.command), passed: run.passed, failures: lines(run.failures) }),
          ),
        follow_up_actions: lines(follow_up_actions),
        blockers: lines(blockers),
        intent_id: intent_id === undefined ? undefined : line(intent_id),
      }),
    };
  }
  const { assessment, strengths, issues, required_fixes, intent_id } = returned.result;
  return {
    ...dispatch,
    role: 'reviewer',
    outcome: compacted({
      assessment,
      strengths: lines(strengths),
      issues: issues?.slice(0, MAX_LIST).map(({ severity, file, message, fix }) =>
        compacted({
          severity,
          file: file === undefined ? undefined : line(file),
          message: line(message),
          fix: fix === undefined ? undefined : line(fix),
        }),
      ),
      required_fixes: lines(required_fixes),
      intent_id: intent_id === undefined ? undefined : line(intent_id),
    }),
  };
}

function line(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function lines(texts: readonly string[] | undefined): string[] | undefined {
  return texts?.slice(0, MAX_LIST).map(line);
}

/** Without the keys that hold `undefined`: JSON drops them anyway, and a replayed value must equal the live one. */
function compacted<T extends object>(value: T): T {
  for (const key of Object.keys(value))
    if (Reflect.get(value, key) === undefined) Reflect.deleteProperty(value, key);
  return value;
}
