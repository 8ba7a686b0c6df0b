import { z } from 'zod';
import { hookState } from '../agents/hooks/hook-state.js';
import { stateDirOf } from '../config/config.js';
import { usageError } from '../contracts/errors.js';
import { statementElsewhere } from '../contracts/names.js';
import { REQUESTS } from '../contracts/requests.js';
import { holding } from '../memory/session/erased-state.js';
import { counted } from '../shared/text.js';
import { restoreCommand } from './board-commands.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { allPages, confirmed } from './output.js';
import { addFields, addRequests, print, printTable, shapeOf } from './request-command.js';
import {
  noteIfEmpty,
  onSession,
  type ProjectOptions,
  projectIn,
  projectOption,
  requireEvents,
  sessionIfAny,
  shownOf,
  usualSession,
} from './session-argument.js';
import { closing, coloursOf, FACT_HEADINGS, factCells, showReply } from './show-reply.js';
import { hookRemarks } from './unsent-command.js';

type FactsOptions = Flags<'json' | 'all'> & Texts<'id'>;

const PAGE = 200;

export function factsCommand(program: Command): void {
  const facts = onSession(program.command('facts')).description(
    'Lists the facts of a session, oldest first, each whole on a line with its id. With --id it shows the history of a fact.',
  );
  const fieldsIn = addFields(
    facts,
    shapeOf(REQUESTS['tool.fact-find'].shape, (field) => !['limit', 'cursor', 'is'].includes(field)),
  );
  facts
    .option('--all', 'also those that have ended, each with what ended it')
    .option('--id <id>', 'show this fact, its history and the prompts that showed it')
    .option('--json', 'one JSON array of facts; with --id the whole reply')
    .examples(
      'throughline facts demo',
      'throughline facts demo --relation must_fix issue',
      'throughline facts demo --text "parser test" --subject src/parser.ts',
      'throughline facts demo --all --json',
    )
    .action(async (_: string | undefined, options: FactsOptions, command: Command) => {
      const { id: given, json, all = false } = options;
      const elsewhere = statementElsewhere(given);
      const cli = cliOf(command);
      const { session, id } = elsewhere ?? { session: await usualSession(cli, command), id: given };
      if (id !== undefined) {
        const reply = await withClient(cli, ({ tools }) => tools.factShow({ session, id }));
        return json
          ? out(JSON.stringify(reply))
          : print(cli, showReply('tool.fact-show', reply, coloursOf(cli)));
      }
      // Before the session is looked for: its first turn may still wait.
      if (!json) for (const remark of hookRemarks(cli)) note(`-- ${remark}`);
      const request = { session, limit: PAGE, ...fieldsIn(), ...(all && { is: 'all' as const }) };
      const pages = await withClient(cli, async (client) => {
        const found = await allPages((cursor) => client.send('tool.fact-find', { ...request, ...cursor }));
        requireEvents(session, found[0].sequence);
        return found;
      });
      const [{ sequence, keeps, learnings }] = pages;
      const found = pages
        .flatMap((page) => page.facts)
        .sort((a, b) => a.at.localeCompare(b.at) || a.dispatch - b.dispatch);
      if (json) return out(JSON.stringify(found));
      const learned = learnings?.newest ?? [];
      printTable(cli, FACT_HEADINGS, [...found, ...learned], factCells);
      const hint = found.length > 0 || all ? '' : ': "--all" shows those that have ended, too';
      const full = keeps === undefined ? '' : `; full: of more than ${keeps} the least useful are gone`;
      note(`-- ${counted(found.length, 'fact')} at event ${sequence}${full}${hint}`);
      if (learnings === undefined) return;
      const { project, total } = learnings;
      const shows = `throughline learning ls${projectOption(cli, project)}`;
      note(`-- ${shownOf(learned.length, total, 'learning')} of project ${project}: "${shows}"`);
    });
  addRequests(facts, {
    'tool.fact-retract': {
      async send(client, request) {
        const { session, id } = request;
        const { fact } = await client.send('tool.fact-show', { session, id });
        const reply = await client.send('tool.fact-retract', request);
        if (fact.closed_at !== undefined) note(`-- it had ended before: ${closing(fact).slice(2, -1)}`);
        return reply;
      },
    },
    'tool.fact-correct': {
      remark: ({ fact: { ref, id }, corrected }) =>
        `${ref ?? id} is the corrected ${corrected.ref ?? corrected.id}, and takes its place in prompts`,
    },
    'tool.fact-erase': {
      fields: { yes: z.literal(true).optional().describe('Do not ask.') },
      async send(client, { yes, ...request }) {
        const isSure = await confirmed(`Erase what ${request.id} says for good?`, yes === true);
        if (!isSure) return undefined;
        const { session, id } = request;
        const { fact, history } = await client.send('tool.fact-show', { session, id });
        const reply = await client.send('tool.fact-erase', request);
        hookState(stateDirOf()).forgetText(holding(fact.object));
        for (const { corrects, closed_at, object, ref } of history)
          if (corrects !== undefined && closed_at === undefined && object.includes(fact.object))
            note(`-- ${ref}, which corrects it, has the same words: erase that, too`);
        return reply;
      },
      remark: () => 'its session keeps no earlier prompts: they may have shown it',
    },
  });
  restoreCommand(facts);
}

interface RecallOptions extends ProjectOptions, Flags<'all'>, Texts<'session'> {}

export function recallCommand(program: Command): void {
  const recall = program
    .command('recall')
    .description(
      'Searches what sessions remember, by words and by meaning: the best lines first. Default: the project of this folder;\n' +
        'without one, all sessions.',
    )
    .option('-s, --session <name>', 'only this session')
    .option('--project <name>', 'sessions of this project')
    .option('--all', 'all sessions')
    .option('--json', 'print the whole reply as JSON');
  const fieldsIn = addFields(
    recall,
    shapeOf(REQUESTS['tool.recall'].shape, (field) => field !== 'project'),
    ['query'],
  );
  recall
    .examples(
      'throughline recall "how are errors reported"',
      'throughline recall "retry of uploads" --all --json',
    )
    .action(async (query: string, options: RecallOptions, command: Command) => {
      const cli = cliOf(command);
      const { session, project, all, json } = options;
      const given = [session, project, all].filter((where) => where !== undefined).length;
      if (given > 1) throw usageError('where to search? Give one of --session, --project and --all');
      const target = given === 1 ? session : sessionIfAny(cli, command, false);
      const wide = all === true ? {} : projectIn(cli, options);
      const isAlone = session !== undefined || (target !== undefined && wide.project === undefined);
      const reply = await withClient(cli, async (client) => {
        const ask = (where: object) => client.send('tool.recall', { ...fieldsIn(), query, ...where });
        const found = await ask(isAlone ? { session: target } : wide);
        // Says that the session of this folder does not exist yet.
        return found.sessions === 0 && target !== undefined ? ask({ session: target }) : found;
      });
      if (json) return out(JSON.stringify(reply));
      print(cli, showReply('tool.recall', reply, coloursOf(cli)));
      const { items, searched, sessions } = reply;
      noteIfEmpty(project, sessions);
      const statement = items.find(({ id }) => id.startsWith('M'));
      const shows = statement && `throughline facts ${statement.session} --id ${statement.id}`;
      const hint = shows === undefined ? '' : `; "${shows}" shows where ${statement?.id} comes from`;
      note(`-- ${counted(items.length, 'item')} in ${shownOf(searched, sessions, 'session')}${hint}`);
    });
}
