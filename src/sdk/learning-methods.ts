import type { LearningInput } from '../contracts/learning-requests.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import { LEARNING_REQUEST_SUBJECTS, type LearningRequest } from '../contracts/request-names.js';

/**
 * One method a request of a group: `learning.propose` is `propose`. The input may be left out where nothing in it is
 * required.
 */
type Methods<Group extends string> = {
  readonly [Subject in LearningRequest as Subject extends `${Group}.${infer Name}`
    ? Name
    : never]: object extends LearningInput<Subject>
    ? (input?: LearningInput<Subject>) => Promise<LearningReply<Subject>>
    : (input: LearningInput<Subject>) => Promise<LearningReply<Subject>>;
};

/** What a project has learned: `learnings.search({ query })`. */
export type Learnings = Methods<'learning'>;
/** What waits for a decision: `proposals.accept({ id, by })`. */
export type Proposals = Methods<'proposal'>;

/** Makes the methods from the table of requests. */
export function createLearnings(request: (subject: LearningRequest, input: object) => Promise<unknown>): {
  readonly learnings: Learnings;
  readonly proposals: Proposals;
} {
  const methods = (group: string) =>
    Object.fromEntries(
      LEARNING_REQUEST_SUBJECTS.filter((subject) => subject.startsWith(`${group}.`)).map((subject) => [
        subject.slice(group.length + 1),
        (input: object = {}) => request(subject, input),
      ]),
    );
  return { learnings: methods('learning') as Learnings, proposals: methods('proposal') as Proposals };
}
