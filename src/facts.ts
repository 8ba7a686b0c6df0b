/**
 * `throughline/facts`: the fact store alone, in memory. Extracts facts from results, stores them, finds relevant ones.
 */
import './globals.js';

export type { Role } from './contracts/kinds.js';
export type { ResultOf } from './contracts/results.js';
export {
  EXTRACTION_RULES,
  type Extraction,
  type ExtractionRule,
  type FactExtractorOptions,
  RuleBasedFactExtractor,
} from './memory/facts/fact-extractor.js';
export { KeywordFactRetriever } from './memory/facts/fact-ranking.js';
export { InMemorySessionFactStore, type ISessionFactStore } from './memory/facts/fact-store.js';
export type {
  DispatchOrigin,
  FactQuery,
  FactSelection,
  IFactExtractor,
  IFactRetriever,
  RankedFact,
  RecordedFact,
  SessionFact,
  SessionFactTag,
} from './memory/facts/fact-types.js';
export { createFactId, formatSessionFacts } from './memory/facts/fact-types.js';
export { factsOfEvent } from './memory/facts/statements.js';
