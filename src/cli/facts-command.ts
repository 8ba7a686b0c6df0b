import { type Command, Option } from 'commander';
import { FACT_TAGS, type FactTag } from '../contracts/fact-tags.js';
import type { FoundFact } from '../contracts/replies/fact-reply.js';
import { counted, oneLine } from '../shared/text.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { allPages } from './output.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

interface FactsOptions {
  readonly text?: string;
  readonly task?: string;
  readonly subject?: string;
  readonly relation?: readonly string[];
  readonly tag?: readonly FactTag[];
  readonly closed?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** As many as one request may ask for. */
const PAGE = 200;

export function factsCommand(program: Command): void {
  onSession(program.command('facts'))
    .description('Lists the valid facts of a session, oldest first, each whole on a line.')
    .option('--text <text>', 'only facts that hold all of these words, or a fact by its id')
    .option('-t, --task <id>', 'only facts from this task')
    .option('--subject <text>', 'only facts about this, such as a file')
    .option('--relation <name...>', 'only facts with one of these relations: must_fix, issue, summary, ...')
    .addOption(new Option('--tag <tag...>', 'only facts with one of these').choices(FACT_TAGS))
    .addOption(new Option('--closed', 'only facts that a later dispatch has closed').conflicts('all'))
    .option('-a, --all', 'include facts that a later dispatch has closed')
    .option('--json', 'one JSON array of facts, each with the repairs of the result that it comes from')
    .addHelpText(
      'after',
      examples(
        'throughline facts demo',
        'throughline facts demo --relation must_fix issue',
        'throughline facts demo --text "parser test" --subject src/parser.ts',
        'throughline facts demo --all --json',
      ),
    )
    .action(async (_: string | undefined, options: FactsOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { text, task, subject, relation, tag, all, closed } = options;
      const is = all ? ('all' as const) : closed ? ('closed' as const) : ('open' as const);
      const asked = {
        ...{ session, is, limit: PAGE },
        ...(text !== undefined && { text }),
        ...(subject !== undefined && { subject }),
        ...(task !== undefined && { task }),
        ...(relation !== undefined && { relation: [...relation] }),
        ...(tag !== undefined && { tag: [...tag] }),
      };
      const pages = await withClient(cli, (client) =>
        allPages((cursor) => client.tools.factFind({ ...asked, ...cursor })),
      );
      const [{ sequence }] = pages;
      requireEvents(session, sequence);
      const facts = pages.flatMap((page) => page.facts).sort((a, b) => a.dispatch - b.dispatch);
      if (options.json) return out(JSON.stringify(facts.map(asStored)));
      for (const fact of facts) {
        const closed = fact.closed_by === undefined ? '' : ` (closed by dispatch ${fact.closed_by})`;
        out(wholeFact(fact) + closed);
      }
      const hint = facts.length > 0 || is === 'all' ? '' : emptyHint(is);
      note(`-- ${counted(facts.length, 'fact')} at session sequence ${sequence}${hint}`);
    });
}

function emptyHint(is: 'open' | 'closed'): string {
  return is === 'open' ? ': --all shows those that were closed, too' : ': --all shows those that hold, too';
}

/** All that a fact says, as one line: a prompt has less room for it. */
function wholeFact({ subject, relation, object, severity, fix, task }: FoundFact): string {
  const finding = [severity, fix && `fix: ${fix}`].filter(Boolean).join(', ');
  const said = `${subject} ${relation} ${object}${finding && ` (${finding})`}`;
  return `- ${oneLine(said)} [task:${oneLine(task)}]`;
}

/** A fact by the names that its session keeps it under: what `--json` has always printed. */
function asStored({ at, closed_at, closed_by, task, role, dispatch, confidence = 1, ...fact }: FoundFact) {
  return {
    ...fact,
    validFrom: at,
    sourceTaskId: task,
    sourceRole: role,
    sourceSequence: dispatch,
    confidence,
    ...(closed_at !== undefined && { validTo: closed_at }),
    ...(closed_by !== undefined && { closedBy: closed_by }),
  };
}
