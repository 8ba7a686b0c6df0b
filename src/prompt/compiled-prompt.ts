import type { CompileReply } from '../contracts/replies/compile-reply.js';

/** The part of a reply that state and request alone decide: the same two give the same bytes. */
export type CompiledPrompt = Decided<CompileReply>;
/** The same of one kind. */
export type CompiledAs<Kind extends CompileReply['kind']> = Extract<CompiledPrompt, { readonly kind: Kind }>;

// Taken from each kind apart: of a union, `Omit` keeps only what all members have.
type Decided<Reply> = Reply extends CompileReply
  ? Omit<Reply, 'sequence' | 'snapshotSequence' | 'replayed' | 'ledger'>
  : never;
