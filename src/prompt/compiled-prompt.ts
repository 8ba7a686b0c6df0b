import type { CompileReply } from '../contracts/compile.js';

/** The part of a reply that state and request alone decide: the same two give the same bytes. */
export type CompiledPrompt = Omit<CompileReply, 'sequence' | 'snapshotSequence' | 'replayed' | 'ledger'>;
