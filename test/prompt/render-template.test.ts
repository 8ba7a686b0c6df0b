import { describe, expect, it } from 'vitest';
import { renderTemplate, unknownPlaceholders } from '../../src/prompt/iteration-template.js';
import * as fc from '../support/properties.js';

describe('a template', () => {
  it('a template is filled in one pass: a placeholder inside a value stays text', () => {
    const values = { a: '{{b}}', b: '{{a}} {{c}}', c: '{{c}}' };
    expect(renderTemplate('{{a}}-{{b}}-{{c}}', values)).toBe('{{b}}-{{a}} {{c}}-{{c}}');
  });

  it('a template is text except for its placeholders, whatever the values hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(renderTemplate('[{{a}}|{{b}}|{{a}}]', { a, b })).toBe(`[${a}|${b}|${a}]`);
      }),
    );
  });

  it.each(['{a}', '{{}}', '{{ }}', '{ {a} }', '{{a}', '{{{', '}}'])(
    'a template keeps %j, which is not a placeholder',
    (text) => {
      expect(renderTemplate(`x ${text} y`, { a: '!' })).toBe(`x ${text} y`);
      expect(unknownPlaceholders(text, [])).toEqual([]);
    },
  );

  it('a template knows no names but those it is given: not even what every object has', () => {
    const template = '{{toString}} {{__proto__}} {{constructor}}';
    expect(renderTemplate(template, {})).toBe(template);
    expect(unknownPlaceholders(template, ['a']).map(({ name }) => name)).toEqual([
      'toString',
      '__proto__',
      'constructor',
    ]);
  });

  it.each(['\n', '\r\n'])(
    'a template loses the lines whose placeholders are all empty (line end %j)',
    (end) => {
      const template = ['one', '', '{{a}}', '', '{{b}} {{c}}', '', 'two {{a}}', '{{d}}', 'three'].join(end);
      expect(renderTemplate(template, { a: '', b: '', c: '', d: '' })).toBe('one\n\ntwo \nthree');
      expect(renderTemplate(template, { a: '', b: '', c: 'C', d: 'D' })).toBe('one\n\n C\n\ntwo \nD\nthree');
    },
  );
});

describe('unknown placeholders', () => {
  it('unknown placeholders are named, each with its line', () => {
    const template = '{{known}}\r\n{{taks}} {{known}}\r\n\r\n{{ history }}{{taks}}';
    expect(unknownPlaceholders(template, ['known'])).toEqual([
      { name: 'taks', line: 2 },
      { name: 'history', line: 4 },
      { name: 'taks', line: 4 },
    ]);
  });

  it.each(['ready-count', 'tasks.open', 'Tasks', 'notes2', 'a b', '1', 'größe'])(
    'unknown placeholders are found when misspelt as %s',
    (name) => {
      expect(unknownPlaceholders(`a {{${name}}}`, ['ready_count', 'tasks', 'notes'])).toEqual([
        { name, line: 1 },
      ]);
    },
  );
});
