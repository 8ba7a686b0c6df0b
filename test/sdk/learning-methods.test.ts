import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ReplyTo } from '../../src/contracts/requests.js';
import type { ClientTransport } from '../../src/engine/ports/clients.js';
import type { ListedLearning, Proposal, RankedLearning } from '../../src/memory/learnings/learnings-state.js';
import { ThroughlineClient } from '../../src/sdk/throughline-client.js';

/** A client, and what was asked through it. */
function asked() {
  const requests: [subject: string, input: object][] = [];
  const client = new ThroughlineClient({
    async request(subject: string, input: object) {
      requests.push([subject, input]);
      return subject;
    },
  } as unknown as ClientTransport);
  const { learnings, proposals } = client;
  return { learnings, proposals, requests };
}

describe('the methods of learnings and proposals', () => {
  it('the methods of learnings and proposals send what they are given to their subject, and return the reply', async () => {
    const { learnings, proposals, requests } = asked();
    expect(await learnings.propose({ content: 'x' })).toBe('learning.propose');
    expect(await proposals.accept({ id: 'abc', by: 'anna', merge: true })).toBe('proposal.accept');
    await learnings.list();
    expect(requests).toEqual([
      ['learning.propose', { content: 'x' }],
      ['proposal.accept', { id: 'abc', by: 'anna', merge: true }],
      ['learning.list', {}],
    ]);
  });

  it('the methods of learnings and proposals are typed by request and reply', () => {
    const { learnings, proposals } = asked();
    expectTypeOf(learnings.search)
      .parameter(0)
      .toMatchTypeOf<{ query: string; maxResults?: number | undefined }>();
    expectTypeOf(learnings.search)
      .returns.resolves.toHaveProperty('results')
      .toEqualTypeOf<readonly RankedLearning[]>();
    expectTypeOf(learnings.list)
      .returns.resolves.toHaveProperty('learnings')
      .toEqualTypeOf<readonly ListedLearning[]>();
    expectTypeOf(proposals.list)
      .returns.resolves.toHaveProperty('proposals')
      .toEqualTypeOf<readonly Proposal[]>();
    expectTypeOf(learnings.propose).returns.resolves.toHaveProperty('existing').toEqualTypeOf<boolean>();
    expectTypeOf(proposals.show).returns.resolves.toEqualTypeOf<ReplyTo<'proposal.show'>>();
    expectTypeOf(learnings.list).toBeCallableWith();
    // @ts-expect-error a request that needs an id
    expectTypeOf(proposals.show).toBeCallableWith();
    // @ts-expect-error a kind of learning that there is none of
    expectTypeOf(learnings.propose).toBeCallableWith({ content: 'x', type: 'rumour' });
  });
});
