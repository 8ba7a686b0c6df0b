import type { TraceEntryInput } from '../../src/contracts/trace-entry.js';

/**
 * Reads a summary as someone who has the entries themselves and nothing else, and says which of its statements are untrue.
 * It shares no code with what writes summaries: what a tool does is told by the test.
 */

export type Effect = 'changes' | 'reads' | 'runs';

export interface Trace {
  /** Entries in their order, each once, of one intent. */
  readonly entries: readonly TraceEntryInput[];
  /** How many of them are compacted. */
  readonly compacted: number;
  /** What a tool does, or a command of it. */
  readonly effect: (tool: string, command: string | undefined) => Effect;
  /** What an entry is about, so that the same thing can be tried again. */
  readonly object: (entry: TraceEntryInput) => string;
  /** The files that an entry is really about. */
  readonly files: (entry: TraceEntryInput) => readonly string[];
}

interface Section {
  readonly title: string;
  readonly shown: number;
  readonly total: number;
  readonly orMore: boolean;
  readonly lines: string[];
}

const TITLE = /^([A-Z][^:()]*) \((\d+) of (\d+)( or more)?( tools)?(?:, newest first)?\):$/;
const MUST = /\b(must|never|always|only|do not|don['’]t)\b/i;

/** The statements of a summary that do not hold, each with the reason. */
export function untruths(text: string, trace: Trace): string[] {
  const wrong: string[] = [];
  const check = (holds: boolean, why: string) => {
    if (!holds) wrong.push(why);
  };
  const past = trace.entries.slice(0, trace.compacted);
  const [header, standsFor = '', ...rest] = text.split('\n');
  check(header === '[Compacted History]', `header ${header}`);
  check(
    standsFor.startsWith(
      `Stands for ${trace.compacted} earlier entries of intent ${past[0]?.intent_id}, about `,
    ),
    standsFor,
  );
  const sections: Section[] = [];
  const asked = past.filter(isRequest).map((entry) => flat(entry.payload?.reasoning));
  for (const line of rest) {
    const request = /^(Original|Newest) request: (.*)$/.exec(line);
    const title = TITLE.exec(line);
    if (request !== null) {
      const [said = ''] = (request[2] ?? '').split(' (cut; whole in trace entry ');
      const expected = request[1] === 'Original' ? asked[0] : asked.at(-1);
      check(expected !== undefined && begins(expected, said), `${request[1]} request is not ${said}`);
      continue;
    }
    if (title !== null) {
      const [, name = '', shown, total, orMore] = title;
      sections.push({
        ...{ title: name, shown: Number(shown), total: Number(total) },
        ...{ orMore: orMore !== undefined, lines: [] },
      });
      continue;
    }
    const section = sections.at(-1);
    check(line.startsWith('- ') && section !== undefined, `a line of its own: ${line}`);
    section?.lines.push(line.slice(2));
  }
  for (const { title, shown, total, orMore, lines } of sections) {
    const known = FACTS[title];
    check(known !== undefined, `unknown section ${title}`);
    check(lines.length === shown, `${title} shows ${lines.length}, and says ${shown}`);
    check(
      new Set(lines).size === lines.length || title === 'Requests between',
      `${title} says a thing twice`,
    );
    if (known === undefined) continue;
    const facts = known(trace, past);
    const { count = total } = facts;
    check(orMore ? total <= count : total === count, `${title}: ${total}, but there are ${count}`);
    check(shown <= total, `${title} shows ${shown} of ${total}`);
    for (const line of lines) check(facts.holds(line), `${title}: ${line}`);
  }
  return wrong;
}

interface Facts {
  /** Left out where sentences may be counted in more than one way. */
  readonly count?: number;
  readonly holds: (line: string) => boolean;
}

const FACTS: Readonly<Record<string, (trace: Trace, past: readonly TraceEntryInput[]) => Facts>> = {
  Outcomes(_, past) {
    const tools = new Map<string, TraceEntryInput[]>();
    for (const entry of past) tools.set(toolOf(entry), [...(tools.get(toolOf(entry)) ?? []), entry]);
    const told = [...tools].filter(
      ([, entries]) =>
        entries.some((entry) => entry.payload?.tool_name !== undefined) ||
        entries.some((entry) => statusOf(entry) !== 'SUCCESS'),
    );
    const lines = told.map(([tool, entries]) => {
      const count = (status: string) => entries.filter((entry) => statusOf(entry) === status).length;
      return `${tool}: ${count('SUCCESS')} succeeded, ${count('FAILURE')} failed, ${count('DENIED')} denied`;
    });
    return { count: lines.length, holds: (line) => lines.includes(line) };
  },
  Constraints(_, past) {
    const said = past.filter((entry) => isRequest(entry)).map((entry) => flat(entry.payload?.reasoning));
    return {
      holds: (line) => MUST.test(line) && said.some((text) => text.includes(unclipped(line))),
    };
  },
  'Requests between'(_, past) {
    const between = past.filter(isRequest).slice(1, -1);
    const lines = between.map((entry) => flat(entry.payload?.reasoning));
    return { count: lines.length, holds: (line) => lines.some((text) => begins(text, line)) };
  },
  'Errors still unresolved'(trace, past) {
    const open = new Map<string, TraceEntryInput>();
    const keyOf = (entry: TraceEntryInput) => `${toolOf(entry)} ${trace.object(entry)}`;
    for (const entry of past)
      if (statusOf(entry) === 'SUCCESS') open.delete(keyOf(entry));
      else if (isDenial(entry)) open.delete(keyOf(entry));
      else open.set(keyOf(entry), entry);
    for (const entry of trace.entries.slice(trace.compacted))
      if (statusOf(entry) === 'SUCCESS') open.delete(keyOf(entry));
    const errors = [...open.values()];
    return {
      count: errors.length,
      holds: (line) =>
        errors.some((entry) => {
          const { error_message, output_summary } = entry.result ?? {};
          const why = flat(error_message ?? output_summary);
          return (
            line.startsWith(toolOf(entry)) &&
            line.includes(trace.object(entry).slice(0, 60)) &&
            line.includes('failed') &&
            (why === '' || line.includes(unclipped(why.slice(0, 100))))
          );
        }),
    };
  },
  'Completed steps'(trace, past) {
    const done = past.filter((entry) => isUse(entry) && effectOf(trace, entry) === 'changes');
    const steps = new Set(done.map((entry) => objectOf(trace, entry)).filter((object) => object !== ''));
    const ran = past
      .filter((entry) => effectOf(trace, entry) === 'runs')
      .map((entry) => flat(entry.payload?.command));
    return {
      count: new Set(
        done.map((entry) => `${flat(entry.payload?.reasoning)} ${toolOf(entry)} ${objectOf(trace, entry)}`),
      ).size,
      holds: (line) =>
        [...steps].some((object) => line.endsWith(` ${object}`)) &&
        !ran.some((command) => command !== '' && line.includes(command)),
    };
  },
  'Runs that succeeded, to run again after a change'(trace, past) {
    const newest = new Map<string, TraceEntryInput>();
    for (const entry of past.filter((each) => effectOf(trace, each) === 'runs'))
      newest.set(`${toolOf(entry)} ${trace.object(entry)}`, entry);
    const runs = [...newest.values()].filter(isUse);
    return {
      count: runs.length,
      holds: (line) => runs.some((entry) => line.includes(flat(entry.payload?.command).slice(0, 60))),
    };
  },
  Decisions(_, past) {
    const said = past.filter(
      ({ state, action_type }) => state === 'REASONING' || action_type === 'STATE_TRANSITION',
    );
    const decided = said.filter((entry) => !flat(entry.payload?.reasoning).endsWith('?'));
    const texts = new Set(
      decided.map((entry) => flat(entry.payload?.reasoning).slice(0, 297)).filter(Boolean),
    );
    return {
      count: texts.size,
      holds: (line) => [...texts].some((text) => begins(text, line) || begins(line, text)),
    };
  },
  'Other files changed': (trace, past) => {
    const done = past.filter((entry) => isUse(entry) && effectOf(trace, entry) === 'changes');
    const inSteps = new Set(done.flatMap((entry) => objectOf(trace, entry).split(/[\s,]+/)));
    const others = [...filesBy(trace, past, 'changes')].filter((file) => !inSteps.has(file));
    return among(new Set(others));
  },
  'Files read or used': (trace, past) => {
    const changed = filesBy(trace, past, 'changes');
    const used = past.filter((entry) => statusOf(entry) === 'SUCCESS').flatMap(trace.files);
    return among(new Set(used.filter((file) => !changed.has(file))));
  },
  Denied(trace, past) {
    const denied = new Map<string, string>();
    const keyOf = (entry: TraceEntryInput) => `${toolOf(entry)} ${trace.object(entry)}`;
    for (const entry of past) {
      denied.delete(keyOf(entry));
      if (isDenial(entry)) denied.set(keyOf(entry), flat(entry.result?.error_message));
    }
    for (const entry of trace.entries.slice(trace.compacted))
      if (statusOf(entry) === 'SUCCESS') denied.delete(keyOf(entry));
    return {
      holds: (line) =>
        [...denied].some(([key, rule]) =>
          key.startsWith('scope_violation')
            ? line.includes(rule)
            : line.startsWith(key.split(' ', 1)[0] ?? '') && line.includes(rule),
        ),
    };
  },
};

function among(known: ReadonlySet<string>): Facts {
  return { count: known.size, holds: (line) => known.has(line) };
}

function filesBy(trace: Trace, past: readonly TraceEntryInput[], effect: Effect): Set<string> {
  const done = past.filter((entry) => statusOf(entry) === 'SUCCESS' && effectOf(trace, entry) === effect);
  return new Set(done.flatMap(trace.files));
}

function effectOf({ effect }: Trace, entry: TraceEntryInput): Effect | undefined {
  const tool = entry.payload?.tool_name;
  return tool === undefined ? undefined : effect(tool, entry.payload?.command);
}

function objectOf({ files }: Trace, entry: TraceEntryInput): string {
  const own = files(entry).join(', ');
  const command = flat(entry.payload?.command);
  if (own !== '' && toolOf(entry) !== 'bash') return own;
  return command.startsWith(`${toolOf(entry)} `) ? command.slice(toolOf(entry).length + 1) : command;
}

function isUse(entry: TraceEntryInput): boolean {
  return entry.action_type === 'TOOL_EXECUTION' && statusOf(entry) === 'SUCCESS';
}

function isDenial(entry: TraceEntryInput): boolean {
  const status = statusOf(entry);
  return status === 'DENIED' || (entry.action_type === 'SCOPE_VIOLATION' && status === 'FAILURE');
}

function isRequest({ state, action_type, payload }: TraceEntryInput): boolean {
  return (state === 'REQUEST' || action_type === 'INTENT_SELECTION') && flat(payload?.reasoning) !== '';
}

function toolOf(entry: TraceEntryInput): string {
  return entry.payload?.tool_name ?? entry.action_type.toLowerCase();
}

function statusOf({ action_type, result }: TraceEntryInput): string {
  if (result !== undefined) return result.status;
  if (action_type === 'SCOPE_VIOLATION') return 'DENIED';
  return action_type === 'ERROR' || action_type === 'BUDGET_EXHAUSTED' ? 'FAILURE' : 'SUCCESS';
}

function flat(text = ''): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Whether a line is the beginning of a text, or all of it. */
function begins(text: string, line: string): boolean {
  return text === line || text.startsWith(unclipped(line));
}

function unclipped(line: string): string {
  return line.endsWith('...') ? line.slice(0, -3) : line;
}
