import { createInterface } from 'node:readline/promises';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import type { ProposalView } from '../contracts/replies/learning-reply.js';
import { sameText } from '../memory/learnings/learnings-state.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visibleInColour } from '../shared/terminal-text.js';
import { counted, oneLine } from '../shared/text.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { Interrupted } from './output.js';
import { deciderIn, deciding, type ProjectOptions, projectIn, shownOf } from './session-argument.js';
import { confidenceText, decisionText, evidenceText, shortId, similarText } from './show-learning.js';
import { type Colors, coloursOf } from './show-reply.js';

/** Maximum number of proposals in one list request. */
const MOST = 1000;
/** Cases shown with a proposal; `learning show` lists all. */
const EVIDENCE_SHOWN = 3;

const ACTIONS = { a: 'accept', m: 'merge', b: 'both', r: 'reject', e: 'edit', s: 'skip', q: 'quit' } as const;

type Letter = keyof typeof ACTIONS;

export function addReview(proposals: Command): void {
  deciding(proposals.command('review'))
    .description(
      'Shows the pending proposals one by one on a terminal. Type one letter for each: accept, reject, edit,\n' +
        'skip and so on. Each decision is sent at once, so you can leave a review at any moment. With --json the last line\n' +
        'is a tally.',
    )
    .examples('throughline learning review', 'throughline learning review --project shop')
    .action(async (options: ProjectOptions, self: Command) => {
      const cli = cliOf(self);
      if (!process.stdin.isTTY || !process.stdout.isTTY) {
        throw usageError(
          'review needs a terminal: use "throughline learning ls --status pending --json", "learning accept ID" and "learning reject ID"',
        );
      }
      await withClient(cli, (client) => review(cli, client, options));
    });
}

async function review(cli: Cli, client: ThroughlineClient, options: ProjectOptions): Promise<void> {
  const of = projectIn(cli, options);
  const { proposals, project, total } = await client.proposals.list({ ...of, limit: MOST });
  const tally = { accepted: 0, merged: 0, rejected: 0, edited: 0, skipped: 0, elsewhere: 0 };
  // The oldest first: what came later may say the same.
  const ids = proposals.map(({ id }) => id).reverse();
  if (ids.length === 0) {
    note(`-- project ${project} has no pending proposals: nothing to review`);
    if (options.json) out(JSON.stringify(tally));
    return;
  }
  if (total > ids.length)
    note(
      `-- the newest ${shownOf(ids.length, total, 'pending proposal')}: the others come with the next review`,
    );
  const pc = coloursOf(cli);
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: true });
  const left = new AbortController();
  let exitCode = 0;
  const leave = (code: number) => {
    exitCode = code;
    left.abort();
  };
  const onSignal = (_: NodeJS.Signals, number: number) => leave(128 + number);
  for (const signal of SIGNALS) process.once(signal, onSignal);
  terminal.once('SIGINT', () => leave(130)).once('close', () => left.abort());
  const say = (text: string) => void process.stdout.write(visibleInColour(`${text}\n`));
  /** An empty answer where the review is left. */
  const ask = (question: string, given = ''): Promise<string> => {
    const answer = terminal.question(question, { signal: left.signal });
    terminal.write(given);
    return answer.then(
      (text) => text.trim(),
      () => '',
    );
  };

  /** Shows a proposal until something has become of it; false to leave the review. */
  async function decided(id: string, place: string): Promise<boolean> {
    const load = () => client.proposals.show({ ...of, id });
    let shown = await load();
    for (let isNew = true; !left.signal.aborted; ) {
      const { proposal } = shown;
      if (proposal.status !== 'pending') {
        tally.elsewhere += 1;
        say(pc.dim(`${shortId(id)} was decided meanwhile: ${decisionText(proposal)}`));
        return true;
      }
      if (isNew) say(proposalText(pc, shown, place));
      isNew = false;
      const letters = lettersFor(shown);
      const typed = await ask(`${letters.map((each) => choice(pc, each)).join('  ')} > `);
      const letter = letters.find((each) => each === typed.toLowerCase());
      if (left.signal.aborted || letter === 'q') return false;
      if (letter === undefined) {
        say(pc.yellow(`type one of ${letters.join(', ')}`));
        continue;
      }
      if (letter === 's') {
        tally.skipped += 1;
        say(pc.dim('skipped, still pending'));
        return true;
      }
      const given = { ...of, ...deciderIn(options), id };
      try {
        if (letter === 'e') {
          const content = await ask('  text (empty: as it was): ', oneLine(proposal.content));
          if (content === '' || content === proposal.content) continue;
          shown = await client.learnings.edit({ ...given, content });
          tally.edited += 1;
          isNew = true;
          continue;
        }
        shown =
          letter === 'r'
            ? await client.proposals.reject(given)
            : await client.proposals.accept({ ...given, merge: letter === 'm', separate: letter === 'b' });
      } catch (error) {
        if (!(error instanceof ThroughlineError)) throw error;
        const { code, message } = error;
        if (code !== 'already_decided') say(pc.yellow(oneLine(`${message} (${code})`)));
        // Another person has decided, or a learning that says nearly the same has come or gone.
        isNew = ['already_decided', 'near_duplicate', 'not_found'].includes(code);
        if (isNew) shown = await load();
        continue;
      }
      const became = letter === 'r' ? 'rejected' : letter === 'm' ? 'merged' : 'accepted';
      tally[became] += 1;
      const { mergedInto: into } = shown.proposal;
      const both = letter === 'b' ? ', both kept' : '';
      say(pc.green(into === undefined ? `${became}${both}` : `merged into ${shortId(into)}`));
      return true;
    }
    return false;
  }

  try {
    for (const [at, id] of ids.entries()) if (!(await decided(id, `(${at + 1}/${ids.length})`))) break;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    terminal.close();
    const { edited, skipped, elsewhere, ...done } = tally;
    const parts = Object.entries({ ...done, edited, skipped, 'decided meanwhile': elsewhere })
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => `${number} ${kind}`);
    const pending = ids.length - elsewhere - Object.values(done).reduce((sum, each) => sum + each);
    if (exitCode > 0) say('');
    say(pc.dim(`-- ${parts.join(', ') || 'nothing decided'}; ${pending} still pending`));
    if (options.json) out(JSON.stringify(tally));
  }
  if (exitCode > 0) throw new Interrupted(exitCode);
}

const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

/** The letters that make sense for a proposal: a learning that says nearly the same is merged, or kept beside it. */
function lettersFor({ proposal, similar }: ProposalView): readonly Letter[] {
  const accepting: Letter[] =
    similar === null ? ['a'] : sameText(proposal.content, similar.content) ? ['m'] : ['m', 'b'];
  return [...accepting, 'r', 'e', 's', 'q'];
}

function choice(pc: Colors, letter: Letter): string {
  return `${pc.bold(`[${letter}]`)}${ACTIONS[letter].slice(1)}`;
}

function proposalText(pc: Colors, shown: ProposalView, place: string): string {
  const { proposal, similar } = shown;
  const { id, type, confidence, content, tags, method, source } = proposal;
  const from = [method, ...(source.session === undefined ? [] : [`session ${source.session}`])];
  return [
    '',
    `${pc.dim(place)} ${pc.bold(shortId(id))}  ${pc.cyan(type)}  ${confidenceText(confidence)}  ${pc.dim(oneLine(from.join(', ')))}`,
    `  ${pc.bold(oneLine(content))}`,
    ...(tags.length === 0 ? [] : [`  tags: ${oneLine(tags.join(', '))}`]),
    ...evidenceLines(shown),
    ...(similar === null ? [] : [pc.yellow(`  a learning says nearly the same: ${similarText(similar)}`)]),
  ].join('\n');
}

function evidenceLines({ proposal }: ProposalView): string[] {
  const { evidence, source } = proposal;
  if (evidence.length === 0)
    return [`  evidence: ${source.note === undefined ? 'none' : `note ${oneLine(source.note)}`}`];
  const shown = [...evidence].reverse().slice(0, EVIDENCE_SHOWN);
  const more = evidence.length - shown.length;
  return [
    `  evidence: ${counted(evidence.length, 'case')}`,
    ...shown.map((each) => `    ${evidenceText(each)}`),
    ...(more > 0
      ? [`    and ${more} more: "throughline learning show ${shortId(proposal.id)}" lists them`]
      : []),
  ];
}
