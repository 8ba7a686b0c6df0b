import type { LearningInput } from '../contracts/learning-requests.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import { LEARNING_REQUEST_SUBJECTS, type LearningRequest } from '../contracts/request-names.js';

/**
 * One method per request of a group: `learning.propose` is `propose`. The input is optional if none of its fields is
 * required.
 */
type Methods<Group extends string> = {
  readonly [Subject in LearningRequest as Subject extends `${Group}.${infer Name}`
    ? Name
    : never]: object extends LearningInput<Subject>
    ? (input?: LearningInput<Subject>) => Promise<LearningReply<Subject>>
    : (input: LearningInput<Subject>) => Promise<LearningReply<Subject>>;
};

/** The learnings of a project: `learnings.search({ query })`. */
export type Learnings = Methods<'learning'>;
/** The proposals of a project: `proposals.accept({ id, by })`. */
export type Proposals = Methods<'proposal'>;

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
