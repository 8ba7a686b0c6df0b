/** `throughline/traces`: hooks that put the compacted history of an intent before a model's system prompt. */
import './globals.js';

export type { TraceEntryInput as TraceEntry } from './contracts/trace-entry.js';
export {
  type CompactionSource,
  HookEngine,
  PreCompactHook,
  type PreLlmHook,
  type PreLlmOptions,
  type PreparedPrompt,
  preparePrompt,
  withPreLlmCompaction,
} from './memory/traces/hook-engine.js';
