import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import { token } from '../../contracts/names.js';
import type { TokenizerName } from '../../contracts/session-settings.js';
import { type RecordedEntry, traceAppendRequest, traceCompactRequest } from '../../contracts/trace-entry.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { Clock } from '../../ports/clock.js';
import type { SessionLog } from '../../ports/session-log.js';
import { resolvedSettings } from '../../session/resolved-settings.js';
import { tracesOf } from '../../session/session-state.js';
import type { Tokenizer } from '../../shared/tokenizer.js';
import { recordEntry } from '../../traces/record-entry.js';
import { compactedReport, recentLines, summarise } from '../../traces/trace-summary.js';

/** Answers `trace.append` and `trace.compact`. */
export interface TraceServiceOptions {
  readonly log: SessionLog;
  readonly reader: SessionReader;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The tokenizer that a session's settings name. */
  readonly tokenizers: (name: TokenizerName) => Promise<Tokenizer>;
}

export interface TraceService {
  /** Appends entries as one event. Those that cannot be read are skipped and counted; if none can, it is an error too. */
  append(request: unknown): Promise<object>;
  /**
   * The summary of an intent, the entries behind it in numbers, and the newer entries; all null or empty below the
   * threshold.
   */
  compact(request: unknown): Promise<object>;
}

export function createTraceService(options: TraceServiceOptions): TraceService {
  const { log, reader, clock, newId, tokenizers } = options;
  return {
    async append(input) {
      const { session: name, entries: given } = checkedRequest(traceAppendRequest, input);
      const session = token(name, 'session');
      const entries: RecordedEntry[] = [];
      const malformed: { index: number; message: string }[] = [];
      for (const [index, each] of given.entries()) {
        const recorded = recordEntry(each, newId);
        if ('entry' in recorded) entries.push(recorded.entry);
        else malformed.push({ index, message: recorded.malformed });
      }
      // Even without a single readable one: the session counts malformed entries.
      const appended = await log.append(session, {
        v: EVENT_VERSION,
        type: 'trace.appended',
        at: clock(),
        data: { entries, malformed: malformed.length },
      });
      if (entries.length === 0) {
        throw new ThroughlineError('schema_invalid', `entries: none can be read; ${malformed[0]?.message}`, {
          details: { malformed },
        });
      }
      // Without an expected sequence nothing can conflict.
      const sequence = appended.outcome === 'appended' ? appended.sequence : 0;
      return { appended: entries.length, malformed, sequence };
    },
    async compact(input) {
      const { session: name, intentId } = checkedRequest(traceCompactRequest, input);
      const session = token(name, 'session');
      const opened = (await reader.load(session)).folded.state;
      const tokenizer = await tokenizers(resolvedSettings(opened.charter.settings).tokenizer);
      const { state } = (await reader.load(session)).folded;
      const trace = tracesOf(state).intents.get(intentId);
      const summary = trace === undefined ? null : summarise(trace, tokenizer);
      return {
        summary: summary?.text ?? null,
        compacted: summary && compactedReport(summary),
        recent: trace === undefined ? [] : recentLines(trace),
        total: trace?.total ?? 0,
        malformed: tracesOf(state).malformed,
        withoutIntent: tracesOf(state).withoutIntent,
        sequence: state.sequence,
      };
    },
  };
}
