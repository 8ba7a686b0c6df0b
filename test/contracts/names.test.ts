import { describe, expect, it } from 'vitest';
import { ROLES } from '../../src/contracts/kinds.js';
import {
  dispatchSubject,
  isToken,
  learningSubject,
  parseDispatchSubject,
  projectOf,
  projectOfSubject,
  rejectedSubject,
  sessionOfStream,
  sessionStream,
  token,
} from '../../src/contracts/names.js';
import * as fc from '../support/properties.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
const tokens = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 1, maxLength: 64 });
const DEMO = token('demo', 'session');

describe('token', () => {
  it('token names the field, the value and the fix', () => {
    expect(() => token('a.b', 'session')).toThrow(
      'session is "a.b": use 1 to 64 characters of A-Z a-z 0-9 _',
    );
  });

  it.each([[undefined], [null], [7], [{ toString: () => 'x' }]])(
    'token refuses what is not a text: %j',
    (value) => {
      expect(isToken(value)).toBe(false);
      expect(() => token(value, 'role')).toThrow(`role is a ${typeof value}`);
    },
  );
});

describe('a dispatch subject', () => {
  it('a dispatch subject reads back as it was built', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom(...ROLES), (session, role) => {
        const subject = dispatchSubject(token(session, 'session'), role);
        expect(parseDispatchSubject(subject)).toEqual({ session, role });
      }),
    );
  });

  it.each([
    ['dispatch.demo.tester', { session: 'demo', role: undefined }],
    ['dispatch.demo.Reviewer', { session: 'demo', role: undefined }],
    ['dispatch.demo', { session: 'demo', role: undefined }],
    ['dispatch.demo.implementer.2', { session: 'demo', role: undefined }],
    ['dispatch.de mo.implementer', { session: undefined, role: 'implementer' }],
    ['dispatch..implementer', { session: undefined, role: 'implementer' }],
    ['dispatch', { session: undefined, role: undefined }],
    ['', { session: undefined, role: undefined }],
  ])('a dispatch subject %j gives the parts that are valid', (subject, expected) => {
    expect(parseDispatchSubject(subject)).toEqual(expected);
  });
});

describe('the other names', () => {
  it('a name stands for a missing part with an underscore', () => {
    expect(rejectedSubject(DEMO, 'reviewer')).toBe('rejected.demo.reviewer');
    expect(rejectedSubject(undefined, undefined)).toBe('rejected._._');
  });

  it('the session is read from the name of a stream, and none from a foreign one', () => {
    fc.assert(
      fc.property(tokens, (session) => {
        expect(sessionOfStream(sessionStream(token(session, 'session')))).toBe(session);
      }),
    );
    for (const stream of ['DISPATCH', 'SESSION_', 'SESSION_a.b', 'KV_session_snapshots', 'MY_SESSION_a']) {
      expect(sessionOfStream(stream)).toBeUndefined();
    }
  });
});

describe('the project of a name', () => {
  it.each([
    [undefined, 'default'],
    ['', 'default'],
    ['  \n', 'default'],
    ['query', 'query'],
    [' query ', 'query'],
    ['my app', 'my-app'],
    ['@acme/app.js', '-acme-app-js'],
    ['a.>.*', 'a----'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ])('the project of the name %j is %s', (name, project) => {
    expect(projectOf(name)).toBe(project);
  });

  it.each([
    ['日本語', '한국어'],
    ['été', 'étà'],
    [`${'x'.repeat(64)}1`, `${'x'.repeat(64)}2`],
    ['😀', '😃'],
  ])('the projects of names that would lose the same letters are kept apart: %j and %j', (one, other) => {
    expect(projectOf(one)).not.toBe(projectOf(other));
    expect(projectOf(one)).toBe(projectOf(` ${one} `));
  });

  it('the project of a name is the same however an accent was typed', () => {
    expect(projectOf('caf\u00e9')).toBe(projectOf('cafe\u0301'));
  });

  it('the project of any text is a token, and stays as it is when taken for a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (name) => {
        const project = projectOf(name);
        expect(isToken(project)).toBe(true);
        expect(projectOf(project)).toBe(project);
        expect(projectOfSubject(learningSubject(project, 'accepted'))).toBe(project);
      }),
    );
  });

  it.each(['learning.a', 'learning', 'learning..accepted', 'session.a.accepted', 'learning.a b.x', ''])(
    'the subject %j has no project',
    (subject) => {
      expect(projectOfSubject(subject)).toBeUndefined();
    },
  );
});
