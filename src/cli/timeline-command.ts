import { type Command, Option } from 'commander';
import type { TimelineEntry } from '../contracts/replies/timeline-reply.js';
import { TIMELINE_KINDS, type TimelineKind } from '../contracts/timeline-kinds.js';
import { counted } from '../shared/counted.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { timelineLine } from './show-query.js';

interface TimelineOptions {
  readonly kind?: TimelineKind[];
  readonly task?: string;
  readonly failed?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

/** As many entries as one request may ask for. */
const PAGE = 500;
const USUAL = 50;
const MOST = 100_000;

export function timelineCommand(program: Command): void {
  onSession(program.command('timeline'))
    .description(
      'Lists what happened in a session, the newest first: results, rejected results, commands, traces and\n' +
        'compiled prompts.',
    )
    .addOption(new Option('--kind <kind...>', 'only entries of these kinds').choices(TIMELINE_KINDS))
    .option('-t, --task <id>', 'only entries of this task, of the board or the plan')
    .option('--failed', 'only what failed: bad verdicts, rejected results, failed actions')
    .option('--limit <n>', 'most entries to show', wholeNumber(1, MOST), USUAL)
    .option('--json', 'one JSON array of entries')
    .addHelpText(
      'after',
      examples(
        'throughline timeline demo',
        'throughline timeline demo --kind result rejected --failed',
        'throughline timeline demo --task 2.1 --json',
      ),
    )
    .action(async (_: string | undefined, options: TimelineOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { kind: kinds, task, failed = false, limit, json = false } = options;
      const asked = {
        ...{ session, failed },
        ...(kinds !== undefined && { kinds }),
        ...(task !== undefined && { task }),
      };
      const { entries, hasMore } = await withClient(cli, async (client) => {
        const found: TimelineEntry[] = [];
        let cursor: string | undefined;
        do {
          const page = await client.tools.timelineList({
            ...asked,
            limit: Math.min(PAGE, limit - found.length),
            ...(cursor !== undefined && { cursor }),
          });
          requireEvents(session, page.sequence);
          found.push(...page.entries);
          cursor = page.next;
        } while (cursor !== undefined && found.length < limit);
        return { entries: found, hasMore: cursor !== undefined };
      });
      if (json) return out(JSON.stringify(entries));
      for (const entry of entries) out(timelineLine(entry));
      if (entries.length === 0) return note('-- no such entries: without these options all are listed');
      const more = hasMore ? ', and there are older ones: see --limit' : '';
      note(`-- ${counted(entries.length, 'entry', 'entries')}, the newest first${more}`);
    });
}
