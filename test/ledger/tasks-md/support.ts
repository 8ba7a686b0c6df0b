import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import type { ParsedTask, ParsedTasks } from '../../../src/ledger/tasks-md/parsed-tasks.js';

const FIXTURES = fileURLToPath(new URL('../../fixtures/tasks-md/', import.meta.url));
const CORPUS = fileURLToPath(new URL('../../../../shared/data/tasks-md/', import.meta.url));

export const hasCorpus = existsSync(CORPUS);

export function fixture(name: string): string {
  return readFileSync(`${FIXTURES}${name}.md`, 'utf8');
}

export function parseFixture(name: string): ParsedTasks {
  return parseTasksMd(fixture(name));
}

export function readCorpus(name: string): string {
  return readFileSync(`${CORPUS}${name}`, 'utf8');
}

export function parseCorpus(name: string): ParsedTasks {
  return parseTasksMd(readCorpus(name));
}

export function corpusFiles(): string[] {
  return readdirSync(CORPUS).toSorted();
}

/** `  1.1 completed optional`, two blanks for each level. */
export function outline(tasks: readonly ParsedTask[]): string[] {
  const depthOf = (parent: string | undefined): number =>
    parent === undefined ? 0 : 1 + depthOf(tasks.find(({ id }) => id === parent)?.parent);
  return tasks.map((task) =>
    [
      '  '.repeat(depthOf(task.parent)) + task.id,
      task.status,
      ...(task.optional ? ['optional'] : []),
      ...(task.blocked ? ['blocked'] : []),
      ...(task.cancelled ? ['cancelled'] : []),
    ].join(' '),
  );
}

/** `12 duplicate_id`. */
export function complaints({ problems }: ParsedTasks): string[] {
  return problems.map(({ line, code }) => `${line} ${code}`);
}

export function byId({ tasks }: ParsedTasks, id: string): ParsedTask {
  const task = tasks.find((each) => each.id === id);
  if (task === undefined) throw new Error(`no task ${id}`);
  return task;
}
