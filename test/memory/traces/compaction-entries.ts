import type { StoredEntry, TraceEntryInput } from '../../../src/contracts/trace-entry.js';
import { addEntry, emptyTrace, type IntentTrace } from '../../../src/memory/traces/intent-trace.js';
import { recordEntry } from '../../../src/memory/traces/record-entry.js';
import { type Summary, summarise } from '../../../src/memory/traces/trace-summary.js';

/** Small traces for tests. */

/** A tool that was used for INT-1, once for each `index`. */
export function step(index: number, more: Partial<TraceEntryInput> = {}): TraceEntryInput {
  return {
    id: `step-${index}`,
    intent_id: 'INT-1',
    state: 'ACTION',
    action_type: 'TOOL_EXECUTION',
    payload: { tool_name: 'edit', target_files: [`src/f${index}.ts`] },
    result: { status: 'SUCCESS', output_summary: `wrote part ${index}` },
    ...more,
  };
}

/** `count` steps, numbered from `first` on. */
export function steps(count: number, first = 1): TraceEntryInput[] {
  return Array.from({ length: count }, (_, index) => step(first + index));
}

export function used(
  id: string,
  tool_name: string,
  target: { file?: string; command?: string },
  result: NonNullable<TraceEntryInput['result']>,
): TraceEntryInput {
  const { file, command } = target;
  return {
    id,
    intent_id: 'INT-1',
    action_type: 'TOOL_EXECUTION',
    payload: {
      tool_name,
      ...(file !== undefined && { target_files: [file] }),
      ...(command !== undefined && { command }),
    },
    result,
  };
}

export function recordedOf(input: unknown): StoredEntry {
  const recorded = recordEntry(input, () => 'made-id');
  if ('malformed' in recorded) throw new Error(recorded.malformed);
  return recorded.entry;
}

export function traceOf(inputs: Iterable<TraceEntryInput>): IntentTrace {
  let trace = emptyTrace('INT-1');
  for (const input of inputs) trace = addEntry(trace, recordedOf(input));
  return trace;
}

export function summaryOf(trace: IntentTrace, maxTokens?: number): Summary {
  const summary = summarise(trace, maxTokens);
  if (summary === null) throw new Error('nothing is compacted yet');
  return summary;
}

export function section(text: string, title: string): string[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`${title} (`));
  if (start < 0) return [];
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('- '));
  return lines.slice(start + 1, end < 0 ? undefined : end);
}
