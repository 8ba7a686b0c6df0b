import type { Learning, Proposal } from './learning-types.js';
import type { LearningState } from './learnings-state.js';

/** A project's state in which a session has another name: the same state where nothing names it. */
export function withRenamed(state: LearningState, from: string, to: string): LearningState {
  let isNamed = false;
  const named = <Named extends { readonly session?: string | undefined }>(each: Named): Named => {
    if (each.session !== from) return each;
    isNamed = true;
    return { ...each, session: to };
  };
  const said = <Said extends Proposal | Learning>(each: Said): Said => ({
    ...each,
    source: named(each.source),
    evidence: each.evidence.map(named),
  });
  const mapped = <Value>(map: ReadonlyMap<string, Value>, change: (value: Value) => Value) =>
    new Map(Array.from(map, ([id, value]) => [id, change(value)] as const));
  const entries = mapped(state.entries, (entry) => ({
    ...entry,
    proposal: said(entry.proposal),
    ...(entry.learning && { learning: said(entry.learning) }),
  }));
  const active = new Map(
    Array.from(state.active, ([id, learning]) => [id, entries.get(id)?.learning ?? said(learning)] as const),
  );
  const observations = mapped(state.observations, (each) => ({
    ...each,
    evidence: each.evidence.map(named),
  }));
  return isNamed ? { ...state, entries, active, observations } : state;
}
