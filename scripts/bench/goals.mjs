// What a goal is, whether it is met, and what has been lost since the committed figures. Pure.

/** A ratio may be worse than the committed one by this share: shared machines are noisy. */
export const TOLERATED_LOSS = 0.2;

/** `undefined` where the goal was not measured. */
export function isMet({ atLeast, atMost }, value) {
  if (value === undefined) return undefined;
  return atLeast === undefined ? value <= atMost : value >= atLeast;
}

/**
 * Ratios that have got worse by more than is tolerated. Absolute figures are left out: they belong to a machine.
 *
 * @param goals all goals
 * @param committed the committed ratios, by goal
 * @param measured the new ones
 */
export function losses(goals, committed, measured) {
  return goals.flatMap((goal) => {
    const [was, is] = [committed[goal.id], measured[goal.id]];
    if (!isRatio(goal) || was === undefined || is === undefined) return [];
    const loss = goal.atLeast === undefined ? 1 - was / is : 1 - is / was;
    return loss > TOLERATED_LOSS ? [{ goal, was, is, loss }] : [];
  });
}

export function isRatio({ unit }) {
  return unit === 'times';
}

/** Goals from rows `id | work | against | at most 2 times`. */
export function goalsOf(table) {
  return table
    .trim()
    .split('\n')
    .map((row) => {
      const [id, work, against, wanted] = row.split(' | ').map((cell) => cell.trim());
      const [, bound, value, unit] = /^at (most|least) (\S+) (.+)$/.exec(wanted);
      return { id, work, against, [bound === 'most' ? 'atMost' : 'atLeast']: Number(value), unit };
    });
}
