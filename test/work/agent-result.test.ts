import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import { readAnswer } from '../../src/work/command-agent.js';

const marked = (json: string) => `Done.\nBEGIN_DISPATCH_RESULT\n${json}\nEND_DISPATCH_RESULT\n`;
const published = (body: string) => {
  const parsed = parseDispatchBody(new TextEncoder().encode(body), 'implementer', 10_000);
  return parsed.ok ? { ...parsed.value.result } : parsed;
};

describe('the result in an answer', () => {
  it.each([
    ['as it is', marked('{"task_id":"1","status":"completed"}'), undefined],
    ['with an id of its own', marked('{"result_id":"mine","task_id":"1","status":"completed"}'), undefined],
    ['that does not parse', marked("{task_id: '1', status: 'completed',}"), /1 repair/],
    ['in a list', '```json\n{"taskId":"1","status":"done"}\n```', /repairs/],
    ['within another object', marked('{"result":{"task_id":"1","status":"completed"}}'), /repair/],
  ])('gets the id of its place: one %s', (_, text, repaired) => {
    const read = readAnswer(text, 'implementer', '1', 'place-1', '[M7, 3 Mar]');
    if (!read.ok) throw new Error(read.fault);
    expect(published(read.result.body)).toMatchObject({
      task_id: '1',
      result_id: 'place-1',
      status: 'completed',
    });
    if (repaired === undefined) expect(read.result.repaired).toBeUndefined();
    else expect(read.result.repaired).toMatch(repaired);
  });

  it.each([
    ['words', 'All is done.', 'the last message does not end in a result block'],
    ['garbage', marked('{{{{'), /json|JSON/],
    ['the result of another task', marked('{"task_id":"2","status":"completed"}'), /task 2, and yours is 1/],
    ['the result of another role', marked('{"task_id":"1","assessment":"approved"}'), /status|reviewer/],
  ])('is none in %s', (_, text, fault) => {
    const read = readAnswer(text, 'implementer', '1', 'place-1', '[M7, 3 Mar]');
    expect(read.ok ? '' : read.fault).toMatch(fault);
  });

  it('ends only statements that its prompt shows', () => {
    const text = `Decided instead of M7 and M8: no cache\n${marked('{"task_id":"1","status":"completed"}')}`;
    const read = readAnswer(text, 'implementer', '1', 'place-1', '- Use a cache [M7, 3 Mar]');
    expect(published(read.ok ? read.result.body : read.fault)).toMatchObject({
      facts: [{ object: 'no cache', replaces: ['M7'], not_shown: ['M8'] }],
    });
  });

  it('says with labelled lines before or after it what later agents must know, once', () => {
    const block = marked(
      '{"task_id":"1","status":"completed","facts":[{"subject":"http","relation":"uses","object":"Fastify 5"}]}',
    );
    const text = `Decided: Fastify 5\n${block}\nFailed: Express 5 because its types differ\nOpen: remove the old router\n`;
    const read = readAnswer(text, 'implementer', '1', 'place-1', '[M7, 3 Mar]');
    expect(published(read.ok ? read.result.body : read.fault)).toMatchObject({
      facts: [
        { subject: 'http', relation: 'uses', object: 'Fastify 5' },
        { subject: 'task:1', relation: 'failed', object: 'Express 5 because its types differ' },
      ],
      follow_up_actions: ['remove the old router'],
      result_id: 'place-1',
    });
  });
});
