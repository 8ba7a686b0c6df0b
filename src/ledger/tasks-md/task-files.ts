import type { Draft, Findings } from './draft.js';
import { draftOfEntry, type PlanEntry } from './entry.js';
import { splitDependencies } from './fields.js';

/** The text files of claude-task-master: `task_001.txt`, one task with its sub-tasks. */

const TASK_ID = /^# Task ID:\s*(\S+)/;
const FIELD = /^# (Title|Status|Dependencies|Priority|Description|Details|Test Strategy|Subtasks):/i;
const SUBTASK = /^## (\d+)\.\s/;
const SUB_FIELD = /^### (Dependencies|Description|Details):/i;
const FENCE = /^\s*(?:```|~~~)/;

interface Open {
  readonly id: string;
  readonly line: number;
  readonly isSubtask: boolean;
  title: string;
  status?: string;
  statusLine?: number;
  dependsOn: string[];
  readonly details: string[];
  readonly test: string[];
}

/** Fills `findings` from a text that opens with `# Task ID:`. Returns false for any other. */
export function readTaskFiles(lines: readonly string[], findings: Findings): boolean {
  if (!TASK_ID.test(lines.find((line) => line.trim() !== '') ?? '')) return false;
  let owner: Draft | undefined;
  let task: Open | undefined;
  let into: string[] | undefined;
  let isFenced = false;
  const close = (end: number): void => {
    if (task === undefined) return;
    const draft = draftOfEntry(entryOf(task, end, task.isSubtask ? owner : undefined), findings.problems);
    if (!task.isSubtask) owner = draft;
    findings.drafts.push(draft);
  };
  lines.forEach((line, at) => {
    if (FENCE.test(line)) isFenced = !isFenced;
    const id = isFenced ? undefined : TASK_ID.exec(line)?.[1];
    const sub = isFenced || id !== undefined ? null : SUBTASK.exec(line);
    if (id !== undefined || (sub !== null && task !== undefined)) {
      close(at);
      const isSubtask = sub !== null && id === undefined;
      const parent = owner?.head.id ?? '';
      task = {
        id: id ?? `${parent}.${sub?.[1]}`,
        line: at,
        isSubtask,
        ...titleOfSubtask(sub === null ? '' : line.slice(sub[0].length), at),
        dependsOn: [],
        details: [],
        test: [],
      };
      into = undefined;
      return;
    }
    const field = isFenced ? null : (FIELD.exec(line) ?? SUB_FIELD.exec(line));
    if (field === null || task === undefined) {
      into?.push(line);
      return;
    }
    const [opening, name = ''] = field;
    const value = line.slice(opening.length).trim();
    into = undefined;
    switch (name.toLowerCase()) {
      case 'title':
        task.title = value;
        break;
      case 'status':
        task.status = value;
        task.statusLine = at;
        break;
      case 'dependencies': {
        const parent = task.isSubtask ? (owner?.head.id ?? '') : '';
        task.dependsOn = splitDependencies(value.replace(/\([^()]*\)|✅|⏱|\uFE0F/gu, '')).map((each) =>
          parent !== '' && /^\d+$/.test(each) ? `${parent}.${each}` : each,
        );
        break;
      }
      case 'details':
        into = task.details;
        break;
      case 'test strategy':
        into = task.test;
        break;
    }
    if (into !== undefined && value !== '') into.push(value);
  });
  let end = lines.length;
  while (end > 0 && lines[end - 1]?.trim() === '') end -= 1;
  close(end);
  return true;
}

/** `Parse the input [done]`. */
function titleOfSubtask(text: string, line: number): { title: string; status?: string; statusLine?: number } {
  const title = text.trim();
  const bracket = title.endsWith(']') ? title.lastIndexOf('[') : -1;
  if (bracket === -1) return { title };
  return { title: title.slice(0, bracket).trim(), status: title.slice(bracket + 1, -1), statusLine: line };
}

function entryOf(task: Open, end: number, owner: Draft | undefined): PlanEntry {
  const details = task.details.join('\n').trim();
  const test = task.test.join('\n').trim();
  return {
    id: task.id,
    text: task.title,
    status: task.status,
    ...(task.statusLine !== undefined && { statusLine: task.statusLine }),
    dependsOn: task.dependsOn,
    prompt: details === '' || test === '' ? details : `${details}\n\nTest strategy: ${test}`,
    line: task.line,
    end,
    owner,
  };
}
