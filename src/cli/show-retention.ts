import type {
  MessagesShown,
  RetentionOutlook,
  SessionsShown,
} from '../contracts/replies/lifecycle-replies.js';
import { RETENTION_TERMS, type RetentionTerm } from '../contracts/retention-record.js';
import { age, counted, oneLine } from '../shared/text.js';

/** How long things are kept, and what the rules would do, as lines for people. */

const WORDS: Readonly<Record<RetentionTerm, string>> = {
  archiveAfter: 'archive',
  forgetAfter: 'forget',
  dispatchesAfter: 'results',
  rejectedAfter: 'rejected results',
};

/** Sessions that are named; the others are counted. */
const NAMED = 10;

/** @param now ISO 8601, from which ages are counted */
export function retentionLines(outlook: RetentionOutlook, now: string): string[] {
  const { rules, paused, at, archive, forget, dispatches, rejected, unknown, lastRun } = outlook;
  if (rules.length === 0)
    return ['no rules: everything is kept; "throughline admin retention set --archive-after 90d" sets one'];
  const isAhead = at > now;
  return [
    ...rules.map(ruleLine),
    ...(paused ? ['paused since a restore: nothing is done until you set a rule again'] : []),
    isAhead ? `if nothing moves until ${at}, they would then` : 'now they would',
    ...sessionLines('archive', archive, at),
    ...sessionLines('forget', forget, at),
    ...messageLines('result', dispatches, at),
    ...messageLines('message of rejected results', rejected, at, 'messages of rejected results'),
    ...(unknown === 0 ? [] : [`  ${counted(unknown, 'session')} not read yet: left alone`]),
    ...(lastRun === undefined ? [] : [lastRunLine(lastRun, now)]),
  ];
}

function ruleLine(rule: RetentionOutlook['rules'][number]): string {
  const terms = RETENTION_TERMS.flatMap((term) => {
    const after = rule[term];
    return after === undefined ? [] : `${WORDS[term]} ${after === 'never' ? 'never' : `after ${after}`}`;
  });
  const whose = rule.project === undefined ? 'installation' : `project ${oneLine(rule.project)}`;
  return `${whose}: ${terms.join(', ')} (set ${rule.at})`;
}

function sessionLines(verb: string, { total, sessions }: SessionsShown, at: string): string[] {
  if (total === 0) return [`  ${verb} no session`];
  const named = sessions.slice(0, NAMED).map(({ session, project, last, after, of }) => {
    const rule = `${after} of ${of === undefined ? 'the installation' : `project ${of}`}`;
    return `    ${oneLine(session)} of project ${oneLine(project)}, last moved ${age(last, at)} (${rule})`;
  });
  const more = total - named.length;
  return [
    `  ${verb} ${counted(total, 'session')}, those that moved longest ago first`,
    ...named,
    ...(more > 0 ? [`    and ${more} more: --json names up to 100`] : []),
  ];
}

function messageLines(
  one: string,
  { total, oldest, held }: MessagesShown,
  at: string,
  many = `${one}s`,
): string[] {
  const from = total === 0 || oldest === undefined ? '' : `, the oldest of ${age(oldest, at)}`;
  return [
    `  remove ${total === 0 ? `no ${one}` : counted(total, one, many)}${from}`,
    ...(held === undefined ? [] : [`    kept for longer: ${oneLine(held)}`]),
  ];
}

function lastRunLine(run: NonNullable<RetentionOutlook['lastRun']>, now: string): string {
  const { startedAt, endedAt, error } = run;
  const state =
    error === undefined ? (endedAt === undefined ? ', not ended' : '') : `, failed: ${oneLine(error)}`;
  return `last run ${age(startedAt, now)}: ${runDone(run)}${state}`;
}

/** What a run has done. */
function runDone(run: NonNullable<RetentionOutlook['lastRun']>): string {
  const { archived, forgotten, spared, dispatches, rejected } = run;
  return [
    `${counted(archived, 'session')} archived`,
    `${forgotten} forgotten`,
    `${counted(dispatches, 'result')} removed`,
    `${counted(rejected, 'message')} of rejected results removed`,
    ...(spared === 0 ? [] : [`${counted(spared, 'session')} left alone`]),
  ].join(', ');
}
