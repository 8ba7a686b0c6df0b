import { type Command, Option } from 'commander';
import type { TimelineEntry } from '../contracts/replies/timeline-reply.js';
import { TIMELINE_KINDS, type TimelineKind } from '../contracts/timeline-kinds.js';
import { counted } from '../shared/text.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { nextPageLines } from './output.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { timelineLine } from './show-query.js';

interface TimelineOptions {
  readonly kind?: TimelineKind[];
  readonly task?: string;
  readonly failed?: boolean;
  readonly limit: number;
  readonly page?: string;
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
    .option('--page <cursor>', 'the page that begins here: the last line of the page before names it')
    .option('--json', 'one JSON array of entries')
    .addHelpText(
      'after',
      examples(
        'throughline timeline demo',
        'throughline timeline demo --kind result rejected --failed',
        'throughline timeline demo --task 2.1 --json',
        'throughline timeline demo --limit 20 --page CURSOR',
      ),
    )
    .action(async (_: string | undefined, options: TimelineOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { kind: kinds, task, failed = false, limit, page: begin, json = false } = options;
      const asked = {
        ...{ session, failed },
        ...(kinds !== undefined && { kinds }),
        ...(task !== undefined && { task }),
      };
      const { entries, next } = await withClient(cli, async (client) => {
        const found: TimelineEntry[] = [];
        let cursor = begin;
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
        return { entries: found, next: cursor };
      });
      if (json) out(JSON.stringify(entries));
      else {
        for (const entry of entries) out(timelineLine(entry));
        if (entries.length > 0) note(`-- ${counted(entries.length, 'entry', 'entries')}, the newest first`);
        else note('-- no such entries: without these options all are listed');
      }
      for (const line of nextPageLines(command, next)) note(line);
    });
}
