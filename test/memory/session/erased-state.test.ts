import { describe, expect, it } from 'vitest';
import { holding, overwriting } from '../../../src/memory/session/erased-state.js';

const MARK = 'erased by ann, 1 Dec';

describe('the text of an erased statement', () => {
  it('is overwritten where the user said it, and the statement still names the user', () => {
    const overwrite = overwriting('The user: Always deploy from the kumquat branch', MARK);
    const said = 'Fix it. always deploy from\nthe kumquat branch.';
    expect(overwrite({ reasoning: said, constraints: ['Always deploy from the kumquat branch.'] })).toEqual({
      reasoning: `Fix it. ${MARK}.`,
      constraints: [`${MARK}.`],
    });
    expect(overwrite({ object: 'The user: Always deploy from the kumquat branch' })).toEqual({
      object: `The user: ${MARK}`,
    });
  });

  it('is overwritten where it was clipped', () => {
    const text = `Always deploy from the kumquat branch ${'and tag it '.repeat(20)}`.trim();
    const overwrite = overwriting(`The user: ${text}`, MARK);
    expect(overwrite([`Please: ${text.slice(0, 200)}...`, 'It goes on...'])).toEqual([
      `Please: ${MARK}`,
      'It goes on...',
    ]);
  });

  it('is overwritten in the answer to a question: the whole line, and the reply as the user wrote it', () => {
    const overwrite = overwriting('Which branch? The user: "the kumquat one": kumquat', MARK);
    expect(overwrite(['Which branch? The user: "the kumquat one": kumquat', 'the kumquat one'])).toEqual([
      `The user: ${MARK}`,
      MARK,
    ]);
    const short = overwriting('Which branch? The user: "kumquat"', MARK);
    expect(short([{ reasoning: 'kumquat' }, { reasoning: 'Buy kumquats' }])).toEqual([
      { reasoning: MARK },
      { reasoning: 'Buy kumquats' },
    ]);
  });

  it('stays in the correction that holds instead', () => {
    const overwrite = overwriting('round down', MARK, ['round down to whole cents']);
    expect(overwrite({ object: 'round down', instead: 'round down to whole cents' })).toEqual({
      object: MARK,
      instead: 'round down to whole cents',
    });
  });

  it('is found in a file, as it is and in lines of JSON', () => {
    const holds = holding('The user: Call it "kumquat" always');
    expect(holds('Rule: Call it "kumquat" always [M1]')).toBe(true);
    expect(holds(`\n${JSON.stringify({ request: 'Call it\n"kumquat" always' })}\n{"cut`)).toBe(true);
    const payload = JSON.stringify({ prompt: 'Call it "kumquat" always' });
    expect(holds(JSON.stringify({ kind: 'raw', payload }))).toBe(true);
    expect(holds('Call it kumquat')).toBe(false);
  });
});
