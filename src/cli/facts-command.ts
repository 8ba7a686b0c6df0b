import { type Command, Option } from 'commander';
import { FACT_TAGS, type FactTag } from '../contracts/fact-tags.js';
import { factId } from '../facts/fact-id.js';
import type { SessionFact } from '../facts/fact-types.js';
import { withRepairs } from '../services/common/event-repairs.js';
import { foldedState } from '../services/common/open-sessions.js';
import { factsOf } from '../session/session-state.js';
import { counted } from '../shared/counted.js';
import { oneLine } from '../shared/text.js';
import { cliOf, examples, note, out, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

interface FactsOptions {
  readonly task?: string;
  readonly relation?: readonly string[];
  readonly tag?: readonly FactTag[];
  readonly all?: boolean;
  readonly json?: boolean;
}

export function factsCommand(program: Command): void {
  onSession(program.command('facts'))
    .description('Lists the valid facts of a session, oldest first, each whole on a line.')
    .option('-t, --task <id>', 'only facts from this task')
    .option('--relation <name...>', 'only facts with one of these relations: must_fix, issue, summary, ...')
    .addOption(new Option('--tag <tag...>', 'only facts with one of these').choices(FACT_TAGS))
    .option('-a, --all', 'include facts that a later dispatch has closed')
    .option('--json', 'one JSON array of facts, each with the repairs of the result that it comes from')
    .addHelpText(
      'after',
      examples(
        'throughline facts demo',
        'throughline facts demo --relation must_fix issue',
        'throughline facts demo --all --json',
      ),
    )
    .action(async (_: string | undefined, options: FactsOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      await withNats(cli, async (nats) => {
        const state = await foldedState(nats, cli.logger, session);
        requireEvents(session, state.sequence);
        const store = factsOf(state);
        const facts = (options.all ? store.all() : store.getValid()).filter((fact) => fits(fact, options));
        if (options.json) {
          const told = await withRepairs(nats.log, session, facts);
          return out(JSON.stringify(told.map((fact) => ({ id: factId(fact), ...fact }))));
        }
        for (const fact of facts) {
          const closed = fact.validTo === undefined ? '' : ` (closed by dispatch ${fact.closedBy})`;
          out(wholeFact(fact) + closed);
        }
        note(`-- ${counted(facts.length, 'fact')} at session sequence ${state.sequence}`);
      });
    });
}

/** All that a fact says, as one line: a prompt has less room for it. */
function wholeFact({ subject, relation, object, severity, fix, sourceTaskId }: SessionFact): string {
  const finding = [severity, fix && `fix: ${fix}`].filter(Boolean).join(', ');
  const said = `${subject} ${relation} ${object}${finding && ` (${finding})`}`;
  return `- ${oneLine(said)} [task:${oneLine(sourceTaskId)}]`;
}

function fits({ sourceTaskId, relation, tags }: SessionFact, options: FactsOptions): boolean {
  return (
    (options.task === undefined || sourceTaskId === options.task) &&
    (options.relation === undefined || options.relation.includes(relation)) &&
    (options.tag === undefined || options.tag.some((tag) => tags.includes(tag)))
  );
}
