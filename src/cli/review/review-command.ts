import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Command } from 'commander';
import picocolors from 'picocolors';
import { ThroughlineError } from '../../contracts/errors.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { visibleInColour } from '../../shared/terminal-text.js';
import { oneLine } from '../../shared/text.js';
import { type Cli, cliOf, coloured, examples, note, out, withClient } from '../command-context.js';
import { Interrupted } from '../output.js';
import { deciderIn, deciding, type ProjectOptions, projectIn, shownOf } from '../session-argument.js';
import { type Review, type ReviewDecision, startReview } from './review-steps.js';
import { type ReviewRequests, type ReviewTerminal, runReview } from './run-review.js';

/** Maximum number of proposals in one list request. */
const MOST = 1000;

/** `throughline learning review`: one key for each decision. */
export function addReview(proposals: Command): void {
  deciding(proposals.command('review'))
    .description(
      'Shows the pending proposals one by one on a terminal, and takes one key for each: accept, reject, edit,\n' +
        'skip, … Each decision is sent at once, so you can leave a review at any moment. With --json the last line\n' +
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
      const { phase, tally } = await withClient(cli, (client) => review(cli, client, options));
      if (options.json) out(JSON.stringify(tally));
      if (phase.kind !== 'over') return;
      if (phase.fault !== undefined) throw phase.fault;
      if (phase.exitCode !== undefined) throw new Interrupted(phase.exitCode);
    });
}

async function review(cli: Cli, client: ThroughlineClient, options: ProjectOptions): Promise<Review> {
  const request = { ...projectIn(cli, options), limit: MOST };
  const { proposals, project, total } = await client.proposals.list(request);
  // The oldest first: what came later may say the same.
  const start = startReview(proposals.map(({ id }) => id).reverse());
  if (proposals.length === 0) {
    note(`-- project ${project} has no pending proposals: nothing to review`);
    return start;
  }
  if (total > proposals.length)
    note(
      `-- the newest ${shownOf(proposals.length, total, 'pending proposal')}: the others come with the next review`,
    );
  const terminal = openTerminal(process.stdin, process.stdout);
  try {
    const requests = requestsOn(client, projectIn(cli, options), deciderIn(options));
    return await runReview(start, { terminal, requests, pc: picocolors.createColors(coloured(cli)) });
  } finally {
    terminal.close();
  }
}

function requestsOn(
  { proposals, learnings }: ThroughlineClient,
  project: { readonly project?: string },
  decider: { readonly by?: string },
): ReviewRequests {
  return {
    show: (id) => proposals.show({ ...project, id }),
    decide: (id, decision: ReviewDecision) => {
      const request = { ...project, ...decider, id };
      if (decision.kind === 'edited') return learnings.edit({ ...request, content: decision.content });
      if (decision.kind === 'rejected') return proposals.reject(request);
      const { kind } = decision;
      return proposals.accept({ ...request, merge: kind === 'merged', separate: kind === 'separate' });
    },
  };
}

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A terminal in raw mode, in which each key counts at once; closing it restores it. */
interface OpenTerminal extends ReviewTerminal {
  close(): void;
}

/** Takes the terminal over. Ctrl-C and signals end up in `interrupted`. */
export function openTerminal(input: ReadStream, output: WriteStream): OpenTerminal {
  let waiting: ((key: string) => void) | undefined;
  let interrupt: (exitCode: number) => void = () => {};
  const interrupted = new Promise<number>((resolve) => {
    interrupt = resolve;
  });
  const editors = new AbortController();
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
    interrupted,
    write: (text) => {
      output.write(visibleInColour(text));
    },
    key: async () => {
      const key = await new Promise<string>((resolve) => {
        waiting = resolve;
      });
      output.write(`${oneLine(key)}\n`);
      return key;
    },
    edit: async (text) => {
      // An editor of its own reads the same keys, and pauses the terminal when it closes.
      const editor = createInterface({ input, output, terminal: true });
      try {
        return await new Promise<string | undefined>((resolve) => {
          editor.once('close', () => resolve(undefined)).once('SIGINT', () => interrupt(SIGNALS.SIGINT));
          editors.signal.addEventListener('abort', () => editor.close(), { once: true });
          editor.question('  text (empty: as it was): ', resolve);
          editor.write(oneLine(text));
        });
      } finally {
        editor.close();
        if (!editors.signal.aborted) raw(true);
      }
    },
    close: () => {
      editors.abort();
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
      input.off('keypress', onKey).off('end', onEnd);
      raw(false);
    },
  };
}
