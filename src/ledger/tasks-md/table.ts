import type { Table } from './blocks.js';
import { type Findings, type Heading, newDraft, problem } from './draft.js';
import { type Head, opensWithBox, readHead } from './head.js';
import { narrow } from './ids.js';
import { type Legend, leadingMark, readStatus } from './marks.js';

const ID =
  /^(?:id|#|no\.?|nr\.?|task ?id|task ?(?:no|number|#)\.?|编号|編號|序号|番号|任务编号|タスク(?:id|番号))$/i;
const TASK =
  /^(?:tasks?|phases?|milestones?|stages?|sprints?|epics?|stor(?:y|ies)|steps?|weeks?|阶段|フェーズ|단계|작업|태스크|任务|任務|タスク|作業|作业|待办事项?)(?:名称?|名|内容|描述)?$|^task (?:name|title|description)$/i;
const TITLE = /^(?:title|description|name|summary|标题|描述|内容|内容|名称|説明|概要|件名|goal)$/i;
const STATUS =
  /^(?:status|state|progress|done|状态|狀態|进度|進度|ステータス|状態|進捗|状況|상태|진행|estado|statut|✓|✅)\??$/i;
const FOREIGN = /requirement|risk|decision|question|milestone|需求|风险|要件|リスク/i;

/**
 * Reads a table with a column for the status and one for the id or the task. Checkboxes in other tables are reported.
 */
export function scanTable(
  table: Table,
  under: Heading | undefined,
  legend: Legend,
  findings: Findings,
): void {
  const [header, ...rows] = table.rows;
  if (header === undefined) return;
  const columns = header.cells.map((cell) => narrow(cell).replace(/[*_`]/g, '').trim());
  const id = columns.findIndex((cell) => ID.test(cell));
  const task = columns.findIndex((cell) => TASK.test(cell));
  const title = columns.findIndex((cell, at) => TITLE.test(cell) && at !== id && at !== task);
  const named = columns.findIndex((cell) => STATUS.test(cell));
  const status =
    named !== -1 ? named : columns.findIndex((cell, at) => cell === '' && isMarks(rows, at, legend));
  if (status === -1 || (id === -1 && task === -1) || columns.some((cell) => FOREIGN.test(cell))) {
    reportBoxes(table, legend, findings);
    return;
  }
  for (const { line, cells } of rows) {
    const at = (column: number): string => cells[column]?.trim() ?? '';
    if (cells.every((cell) => cell.trim() === '')) continue;
    const head = headOf(at(id), at(task), at(title), id !== -1, legend);
    const text = at(status);
    const mark = readStatus(text, legend) ?? (text === '' ? head.mark : undefined);
    if (mark === undefined && text !== '') {
      findings.problems.push(
        problem('unknown_marker', line, `"${text}" is not a known status; read as pending`),
      );
    }
    if (head.id === undefined) {
      const message = `"${text.slice(0, 40)}" stands in a row without an id; give it one to make it a task`;
      findings.problems.push(problem('mark_without_id', line, message));
      continue;
    }
    findings.mentions.push({
      line,
      from: 'table',
      draft: newDraft(line, 'table', head, { under }, legend),
      mark: mark ?? { status: 'pending' },
    });
  }
}

/** The id is in its own column, or at the start of the task's. */
function headOf(id: string, task: string, title: string, hasId: boolean, legend: Legend): Head {
  const inTask = readHead(task, false, legend);
  const inId = readHead(id, false, legend);
  const plain = narrow(id)
    .replace(/[*`[\]]/g, '')
    .trim();
  const own = inId.id !== undefined && inId.text === '' ? inId.id : plain;
  const text = inTask.text || title;
  if (!hasId || own === '' || own.length > 32) return { ...inTask, text };
  // "1" in an id column is an id; "1. Title" in the task column must not become another one.
  return { ...inTask, id: own, text };
}

function isMarks(rows: Table['rows'], column: number, legend: Legend): boolean {
  const cells = rows.map(({ cells: row }) => row[column]?.trim() ?? '').filter((cell) => cell !== '');
  return (
    cells.length > 0 && cells.every((cell) => opensWithBox(cell, legend) || leadingMark(cell) !== undefined)
  );
}

function reportBoxes(table: Table, legend: Legend, { problems }: Findings): void {
  const isMark = (cell: string): boolean => opensWithBox(cell, legend) || leadingMark(cell) !== undefined;
  const rows = table.rows.slice(1).filter(({ cells }) => cells.some(isMark));
  const [first] = rows;
  if (first === undefined) return;
  const message = `${rows.length} row(s) with a checkbox or a mark in a table without columns for a task's id and status`;
  problems.push(problem('not_a_task', first.line, message, rows.at(-1)?.line));
}
