import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import type { ProposalView } from '../contracts/replies/learning-reply.js';
import { sameText } from '../memory/learnings/learning-text.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visibleInColour } from '../shared/terminal-text.js';
import { counted, oneLine } from '../shared/text.js';
import { type Cli, cliOf, examples, note, out, withClient } from './command-context.js';
import { Interrupted } from './output.js';
import { deciderIn, deciding, type ProjectOptions, projectIn, shownOf } from './session-argument.js';
import { confidenceText, decisionText, evidenceText, shortId, similarText } from './show-learning.js';
import { type Colors, coloursOf } from './show-reply.js';

/** Maximum number of proposals in one list request. */
const MOST = 1000;
/** Cases shown with a proposal; `v` shows all. */
const EVIDENCE_SHOWN = 3;

const ACTIONS = {
  accept: { key: 'a', label: 'accept', help: 'accept it: it becomes a learning' },
  reject: { key: 'r', label: 'reject', help: 'reject it' },
  edit: { key: 'e', label: 'edit', help: 'edit its text, then decide' },
  skip: { key: 's', label: 'skip', help: 'skip it: it stays pending' },
  merge: {
    ...{ key: 'm', label: 'merge' },
    help: 'merge it: its evidence goes to the learning that says nearly the same',
  },
  separate: {
    ...{ key: 'b', label: 'both' },
    help: 'keep both, beside the learning that says nearly the same',
  },
  evidence: { key: 'v', label: 'view evidence', help: 'view all its evidence' },
  quit: {
    ...{ key: 'q', label: 'quit' },
    help: 'quit: what is decided stays decided, the rest stays pending',
  },
  help: { key: '?', label: 'help', help: 'this help' },
} as const;

type Action = keyof typeof ACTIONS;

/** `throughline learning review`: one key for each decision. */
export function addReview(proposals: Command): void {
  deciding(proposals.command('review'))
    .description(
      'Shows the pending proposals one by one on a terminal. Press one key for each: accept, reject, edit,\n' +
        'skip and so on. Each decision is sent at once, so you can leave a review at any moment. With --json the last line\n' +
        'is a tally.',
    )
    .addHelpText(
      'after',
      examples('throughline learning review', 'throughline learning review --project shop'),
    )
    .action(async (options: ProjectOptions, self: Command) => {
      const cli = cliOf(self);
      if (!process.stdin.isTTY || !process.stdout.isTTY) {
        throw new ThroughlineError(
          'usage',
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
  const terminal = openTerminal();
  const say = (text: string) => terminal.write(`${text}\n`);
  /** The proposal whose decision has no answer yet. */
  let sent: string | undefined;

  const request = (id: string, action: Action, content: string): Promise<ProposalView> => {
    const given = { ...of, ...deciderIn(options), id };
    if (action === 'edit') return client.learnings.edit({ ...given, content });
    if (action === 'reject') return client.proposals.reject(given);
    return client.proposals.accept({ ...given, merge: action === 'merge', separate: action === 'separate' });
  };

  /** Shows a proposal until something has become of it; false to leave the review. */
  async function decided(id: string, place: string): Promise<boolean> {
    const load = () => terminal.until(client.proposals.show({ ...of, id }));
    let shown = await load();
    let isNew = true;
    let draft: string | undefined;
    for (;;) {
      const { proposal } = shown;
      if (proposal.status !== 'pending') {
        tally.elsewhere += 1;
        say(pc.dim(`${shortId(id)} was decided meanwhile: ${decisionText(proposal)}`));
        return true;
      }
      if (isNew) say(proposalText(pc, shown, place));
      isNew = false;
      terminal.write(question(pc, shown));
      const action = actionOf(await terminal.key());
      const fault = action === undefined ? 'no such key: ? lists them' : refusal(action, shown);
      if (fault !== undefined) say(pc.yellow(fault));
      if (action === undefined || fault !== undefined) continue;
      if (action === 'quit') return false;
      if (action === 'skip') {
        tally.skipped += 1;
        say(pc.dim('skipped, still pending'));
        return true;
      }
      if (action === 'help' || action === 'evidence') {
        say((action === 'help' ? helpLines(pc, shown) : evidenceLines(shown)).join('\n'));
        continue;
      }
      if (action === 'edit') {
        draft = (await terminal.edit(draft ?? proposal.content)).trim();
        if (draft === '' || draft === proposal.content) {
          draft = undefined;
          say(pc.dim('not changed'));
          continue;
        }
      }
      try {
        sent = id;
        shown = await terminal.until(request(id, action, draft ?? ''));
        sent = undefined;
      } catch (error) {
        if (!(error instanceof ThroughlineError)) throw error;
        sent = undefined;
        const { code, message } = error;
        if (code !== 'already_decided') say(pc.yellow(oneLine(`${message} (${code})`)));
        // Another person has decided, or a learning that says nearly the same has come or gone.
        isNew = ['already_decided', 'near_duplicate', 'not_found'].includes(code);
        if (isNew) shown = await load();
        continue;
      }
      if (action === 'edit') {
        tally.edited += 1;
        draft = undefined;
        isNew = true;
        continue;
      }
      const became = action === 'reject' ? 'rejected' : action === 'merge' ? 'merged' : 'accepted';
      tally[became] += 1;
      const { mergedInto: into } = shown.proposal;
      const both = action === 'separate' ? ', both kept' : '';
      say(pc.green(into === undefined ? `${became}${both}` : `merged into ${shortId(into)}`));
      return true;
    }
  }

  try {
    for (const [at, id] of ids.entries()) if (!(await decided(id, `(${at + 1}/${ids.length})`))) break;
  } catch (error) {
    // An interrupted question stands there without its answer.
    if (error instanceof Interrupted) say('');
    if (sent !== undefined)
      say(
        pc.yellow(
          `the last decision was sent, not answered: see "throughline learning show ${shortId(sent)}"`,
        ),
      );
    throw error;
  } finally {
    const { edited, skipped, elsewhere, ...done } = tally;
    const parts = Object.entries({ ...done, edited, skipped, 'decided meanwhile': elsewhere })
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => `${number} ${kind}`);
    const left = ids.length - elsewhere - Object.values(done).reduce((sum, each) => sum + each);
    say(pc.dim(`-- ${parts.join(', ') || 'nothing decided'}; ${left} still pending`));
    terminal.close();
    if (options.json) out(JSON.stringify(tally));
  }
}

/** Returns the action of a key, ignoring case. Ctrl-D ends the input of any other program. */
function actionOf(key: string): Action | undefined {
  if (key === '\u0004') return 'quit';
  return (Object.keys(ACTIONS) as Action[]).find((name) => ACTIONS[name].key === key.toLowerCase());
}

/** True if a proposal with a near-duplicate may be kept beside it. */
function maySeparate({ proposal, similar }: ProposalView): boolean {
  return similar !== null && !sameText(proposal.content, similar.content);
}

/** Why an action is not for this proposal. */
function refusal(action: Action, shown: ProposalView): string | undefined {
  const isAlone = shown.similar === null;
  if (action === 'merge' && isAlone) return 'no learning says nearly the same';
  if (action === 'separate' && isAlone) return 'no learning says nearly the same: a accepts it';
  if ((action !== 'accept' || isAlone) && (action !== 'separate' || maySeparate(shown))) return undefined;
  return maySeparate(shown)
    ? 'a learning says nearly the same: m merges, b keeps both'
    : 'a learning says the same: m merges, r rejects it';
}

function actionsFor(shown: ProposalView): readonly Action[] {
  const merging: Action[] = maySeparate(shown) ? ['merge', 'separate'] : ['merge'];
  return [
    ...(shown.similar === null ? (['accept'] as const) : merging),
    ...(['reject', 'edit', 'skip'] as const),
    ...(shown.proposal.evidence.length > EVIDENCE_SHOWN ? (['evidence'] as const) : []),
    ...(['quit', 'help'] as const),
  ];
}

/** The keys that make sense for a proposal. */
function question(pc: Colors, shown: ProposalView): string {
  const words = actionsFor(shown).map((action) => {
    const { key, label } = ACTIONS[action];
    return `${pc.bold(`[${key}]`)}${label.startsWith(key) ? label.slice(1) : ` ${label}`}`;
  });
  return `${words.join('  ')} > `;
}

function helpLines(pc: Colors, shown: ProposalView): string[] {
  return actionsFor(shown).map((action) => `  ${pc.bold(ACTIONS[action].key)}  ${ACTIONS[action].help}`);
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
    ...evidenceLines(shown, EVIDENCE_SHOWN),
    ...(similar === null ? [] : [pc.yellow(`  a learning says nearly the same: ${similarText(similar)}`)]),
  ].join('\n');
}

/** The newest cases first. */
function evidenceLines({ proposal }: ProposalView, most = Number.POSITIVE_INFINITY): string[] {
  const { evidence, source } = proposal;
  if (evidence.length === 0)
    return [`  evidence: ${source.note === undefined ? 'none' : `note ${oneLine(source.note)}`}`];
  const shown = [...evidence].reverse().slice(0, most);
  const more = evidence.length - shown.length;
  return [
    `  evidence: ${counted(evidence.length, 'case')}`,
    ...shown.map((each) => `    ${evidenceText(each)}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Takes the terminal over, in raw mode, in which each key counts at once; `close` restores it. Ctrl-C, signals and the end of
 * the terminal reject whatever is awaited with `Interrupted`.
 */
function openTerminal() {
  const { stdin: input, stdout: output } = process;
  let waiting: ((key: string) => void) | undefined;
  let interrupt: (exitCode: number) => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (exitCode) => reject(new Interrupted(exitCode));
  });
  interrupted.catch(() => {});
  const until = <T>(work: Promise<T>) => Promise.race([interrupted, work]);
  const onKey = (text: string | undefined, key: Key) => {
    if (key.ctrl && key.name === 'c') return interrupt(SIGNALS.SIGINT);
    const give = waiting;
    waiting = undefined;
    give?.(text ?? key.sequence ?? '');
  };
  const onSignal = (_: NodeJS.Signals, number: number) => interrupt(128 + number);
  const onEnd = () => interrupt(SIGNALS.SIGHUP);
  const raw = (on: boolean) => {
    input.setRawMode(on);
    if (on) input.resume();
    else input.pause();
  };

  emitKeypressEvents(input);
  input.on('keypress', onKey).on('end', onEnd).on('error', onEnd);
  output.on('error', onEnd);
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  raw(true);
  return {
    until,
    write: (text: string) => void output.write(visibleInColour(text)),
    /** The next key; those that were typed while nobody asked are dropped, so that none decides on what was not seen. */
    async key(): Promise<string> {
      const key = await until(
        new Promise<string>((resolve) => {
          waiting = resolve;
        }),
      );
      output.write(`${oneLine(key)}\n`);
      return key;
    },
    /** Lets a person change a text; empty when it is left without one. */
    async edit(text: string): Promise<string> {
      // An editor of its own reads the same keys, and pauses the terminal when it closes.
      const editor = createInterface({ input, output, terminal: true });
      try {
        const edited = new Promise<string>((resolve) => {
          editor.once('close', () => resolve('')).once('SIGINT', () => interrupt(SIGNALS.SIGINT));
          editor.question('  text (empty: as it was): ', resolve);
          editor.write(oneLine(text));
        });
        return await until(edited);
      } finally {
        editor.close();
        raw(true);
      }
    },
    close() {
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
      input.off('keypress', onKey).off('end', onEnd);
      raw(false);
    },
  };
}
