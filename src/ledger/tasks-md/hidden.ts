import type { Lines } from './blocks.js';
import { problem } from './draft.js';
import { opensWithBox } from './head.js';
import type { Legend } from './marks.js';
import type { TaskProblem } from './parsed-tasks.js';

/** Reports the checkboxes in a code fence: they are examples. */
export function reportFence(
  { start, end, lines }: Lines,
  source: readonly string[],
  legend: Legend,
  problems: TaskProblem[],
): void {
  const boxes = lines.flatMap((line, at) => (opensWithBox(line, legend) ? [start + 1 + at] : []));
  const [first] = boxes;
  if (first === undefined) return;
  const isClosed = end - start > 1 && /^[\s>]*(?:`{3,}|~{3,})\s*$/.test(source[end - 1] ?? '');
  problems.push(
    isClosed
      ? problem(
          'not_a_task',
          first,
          `${boxes.length} checkbox(es) in a code fence, taken for examples`,
          boxes.at(-1),
        )
      : problem(
          'unclosed_fence',
          start,
          `a code fence that is never closed hides ${boxes.length} checkbox(es)`,
          end - 1,
        ),
  );
}

/** An HTML block without its comments, line for line; checkboxes in comments are reported. */
export function uncomment(block: Lines, legend: Legend, problems: TaskProblem[]): Lines {
  let inComment = false;
  const hidden: number[] = [];
  const lines = block.lines.map((line, at) => {
    let shown = '';
    let rest = line;
    while (rest !== '') {
      const [mark, length] = inComment ? ['-->', 3] : ['<!--', 4];
      const found = rest.indexOf(mark);
      const part = found === -1 ? rest : rest.slice(0, found);
      if (!inComment) shown += part;
      else if (opensWithBox(part, legend)) hidden.push(block.start + at);
      if (found !== -1) inComment = !inComment;
      rest = found === -1 ? '' : rest.slice(found + length);
    }
    return shown;
  });
  const [first] = hidden;
  if (first !== undefined)
    problems.push(problem('not_a_task', first, `${hidden.length} checkbox(es) in a comment`, hidden.at(-1)));
  return { ...block, lines };
}
