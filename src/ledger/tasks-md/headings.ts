import type { Head } from './head.js';
import { type Mark, wholeWord } from './marks.js';

/** What headings say of the list below them. */

const PICTURES = /^(?:\p{Extended_Pictographic}|[\uFE0F\s])+/u;
const NOUN =
  /\s+(?:tasks?|work|items?|features?|phases?|stories|issues|things|steps|list|todos?|작업|할 일|任务|タスク)$/iu;
const PLAN =
  /^(?:\d+\.?\s+)?(?:(?:the|implementation|project|development|action|detailed|execution|work|migration)\s+)?(?:plans?|tasks?|steps?|to-?dos?(?: list)?|roadmap|phases|items|task list|계획|할 일|작업 목록|任务|任務|任务列表|计划|实施计划|タスク|タスク一覧|計画|実装計画|aufgaben|tâches|tareas|tarefas|задачи|план)$/iu;

/** The status that a heading of nothing else gives to what stands below it: `## ✅ Done`, `### In progress tasks`. */
export function statusOfSection({ text, box, mark }: Head): Mark | undefined {
  if (text.length > 60) return undefined;
  const words = text
    .replace(PICTURES, '')
    .replace(/\s*[(（][^()（）]*[)）]$/, '')
    .replace(/[:：]$/, '');
  if (words === '') return box?.mark ?? mark;
  const said = wholeWord(words) ?? wholeWord(words.replace(NOUN, ''));
  return said === undefined ? undefined : (mark ?? box?.mark ?? said);
}

/** Whether a heading, or the line before a list (which ends with a colon), says that the plan follows. */
export function opensPlan(text: string, needsColon: boolean): boolean {
  if (text.length > 40) return false;
  const plain = text.replace(/[*_#]/g, '').replace(PICTURES, '').trim();
  if (needsColon && !/[:：]$/.test(plain)) return false;
  return PLAN.test(plain.replace(/\s*[:：]$/, ''));
}
