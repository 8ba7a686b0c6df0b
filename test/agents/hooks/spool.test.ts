import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { hookState } from '../../../src/agents/hooks/hook-state.js';
import {
  MAX_WAITING,
  removeSpool,
  removeStarts,
  spoolCounts,
  spoolOf,
} from '../../../src/agents/hooks/spool.js';
import { holding } from '../../../src/memory/session/erased-state.js';
import { hookPlace } from './hooks.js';

const TURN = { session_id: 's1', cwd: '/p', prompt_id: 'p1' };
const start = { ...TURN, hook_event_name: 'SessionStart', source: 'startup' };
const prompt = { ...TURN, hook_event_name: 'UserPromptSubmit', prompt: 'Build the shop' };
const stop = {
  ...TURN,
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message: 'Decided: sqlite keeps the orders.',
};
const raw = (payload: object, at: string) =>
  ({
    kind: 'raw',
    client: 'claude',
    payload: JSON.stringify(payload),
    at,
    directory: '/p',
    env: {},
  }) as const;
const result = (session: string, task: string) =>
  ({
    kind: 'result',
    session,
    role: 'implementer',
    text: `{"task_id":"${task}","status":"completed"}`,
    messageId: `${session}:${task}`,
  }) as const;

describe('what waits to be sent', () => {
  it.each([
    ['half a file', '{"kind":"result","session":"demo","te', 'it is not JSON'],
    ['an unknown kind', '{"kind":"message","session":"demo"}', 'it is of another version'],
    [
      'an unknown role',
      '{"kind":"result","session":"demo","role":"designer","text":"{}","messageId":"1"}',
      'it is of another version',
    ],
  ])('%s is set aside with a line in the log, and the rest is sent', async (_, text, why) => {
    const place = hookPlace();
    place.spool.keep(result('demo', '1'));
    writeFileSync(join(place.spoolDir, '0-first.json'), text);
    await place.run('claude', start);
    expect(place.published).toEqual([expect.stringContaining('"task_id":"1"')]);
    expect(readdirSync(place.spoolDir)).toEqual(['unreadable']);
    expect(readFileSync(join(place.spoolDir, 'unreadable', '0-first.json'), 'utf8')).toBe(text);
    expect(place.lines.join('\n')).toContain(`0-first.json: ${why}`);
    expect(spoolCounts(place.stateDir)).toEqual([{ installation: 'own:1', waiting: 0, unreadable: 1 }]);
  });

  it('a link is set aside, and not followed', async () => {
    const place = hookPlace();
    mkdirSync(place.spoolDir, { recursive: true });
    symlinkSync('/gone', join(place.spoolDir, '0-first.json'));
    await place.run('claude', start);
    expect(readdirSync(join(place.spoolDir, 'unreadable'))).toEqual(['0-first.json']);
    expect(place.lines.join('\n')).toContain('0-first.json: it is not a regular file');
  });

  it.each(['permission_denied', 'schema_invalid'] as const)(
    'a session that answers %s does not hold up the others, and its results are kept',
    async (code) => {
      const place = hookPlace({ refuses: { secret: code } });
      place.spool.keep(result('secret', '1'));
      place.spool.keep(result('demo', '2'));
      await place.run('claude', start);
      expect(place.published).toEqual([expect.stringContaining('"task_id":"2"')]);
      expect(spoolCounts(place.stateDir)).toEqual([{ installation: 'own:1', waiting: 0, unreadable: 1 }]);
      expect(place.lines.join('\n')).toContain(`${code}: not sent`);
    },
  );

  it('a result that fails within the server stays, and the others are sent', async () => {
    const place = hookPlace({ refuses: { broken: 'internal' } });
    place.spool.keep(result('broken', '1'));
    place.spool.keep(result('demo', '2'));
    await place.run('claude', start);
    expect(place.published).toEqual([expect.stringContaining('"task_id":"2"')]);
    expect(spoolCounts(place.stateDir)).toEqual([{ installation: 'own:1', waiting: 1, unreadable: 0 }]);
  });

  it('the folder of what cannot be sent is bounded', async () => {
    const place = hookPlace();
    const aside = join(place.spoolDir, 'unreadable');
    mkdirSync(aside, { recursive: true });
    for (let count = 0; count < MAX_WAITING; count += 1) writeFileSync(join(aside, `${count}.json`), '');
    writeFileSync(join(place.spoolDir, '0-first.json'), '{');
    await place.run('claude', start);
    expect(readdirSync(aside)).toHaveLength(MAX_WAITING);
    expect(place.lines.join('\n')).toContain('deleted: 0-first.json');
  });

  it('a result is kept also where steps of a turn have taken their room', async () => {
    const place = hookPlace();
    place.setDown(true);
    mkdirSync(place.spoolDir, { recursive: true });
    for (let count = 0; count < MAX_WAITING; count += 1)
      writeFileSync(join(place.spoolDir, `${count}.json`), '');
    const tool = { tool_name: 'Edit', tool_input: { file_path: '/p/a.ts' }, tool_response: {} };
    await place.run('claude', { ...TURN, hook_event_name: 'PostToolUse', ...tool });
    await place.run('claude', stop);
    expect(place.lines.join('\n')).toContain('nothing more is kept');
    const [kept = ''] = readdirSync(place.spoolDir).filter((name) => name.includes('-'));
    expect(readFileSync(join(place.spoolDir, kept), 'utf8')).toMatch(
      /keeps the orders.*a\.ts|a\.ts.*keeps the orders/,
    );
  });

  it('a call that was kept raw is recorded once, at its time, by the hooks that come next', async () => {
    const place = hookPlace();
    place.spool.keep(raw(prompt, '2026-11-01T00:00:00.000Z'));
    place.spool.keep(raw(stop, '2026-11-01T00:01:00.000Z'));
    await place.run('claude', start);
    await place.run('claude', start);
    expect(place.published).toEqual([expect.stringContaining('keeps the orders')]);
    const traced = JSON.stringify(place.asked.filter(({ subject }) => subject === 'trace.append.demo'));
    expect(traced.split('Build the shop')).toHaveLength(2);
    expect(traced).toContain('2026-11-01T00:00:00.000Z');
    expect(spoolCounts(place.stateDir)).toEqual([]);
  });

  it('a raw call goes to the session of its folder, not to that of the hook that records it', async () => {
    const place = hookPlace();
    const env = { THROUGHLINE_SESSION: '', THROUGHLINE_PROJECT: '', THROUGHLINE_RESULT_ID: '' };
    place.spool.keep({ ...raw({ ...stop, cwd: place.stateDir }, '2026-11-01T00:00:00.000Z'), env });
    await place.run('claude', start);
    const subjects = place.asked.map(({ subject }) => subject).filter((each) => each.startsWith('dispatch.'));
    expect(subjects).toEqual([
      expect.stringMatching(/^dispatch\.throughline-hooks-\w+-[0-9a-f]{6}\.observer$/),
    ]);
  });

  it.each([
    ['a turn', stop],
    ['a prompt', prompt],
  ])('a raw call of %s stays, first in its queue, while the disk takes nothing', async (_, payload) => {
    const place = hookPlace();
    place.spool.keep(raw(payload, '2026-11-01T00:00:00.000Z'));
    const before = place.spool.waiting(true);
    const keep = vi.spyOn(place.spool, 'keep').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'write' });
    });
    await place.run('claude', start);
    expect(place.spool.waiting(true)).toEqual(before);
    expect(place.lines.join('\n')).toContain('ENOSPC: no space left on device');
    keep.mockRestore();
    await place.run('claude', start);
    expect(spoolCounts(place.stateDir)).toEqual([]);
    const sent = place.asked.filter(({ subject }) => /^(?:dispatch|trace\.append)\./.test(subject));
    expect(sent).toHaveLength(1);
  });

  it('of two hooks one takes a raw call', () => {
    const { spool } = hookPlace();
    spool.keep(raw(prompt, '2026-11-01T00:00:00.000Z'));
    const [{ name } = { name: '' }] = spool.waiting(true);
    expect([spool.take(name), spool.take(name)]).toEqual([`${name}.taken`, undefined]);
    expect(spool.waiting(true)).toEqual([]);
  });

  it('a raw call that no version reads is set aside', async () => {
    const place = hookPlace();
    place.spool.keep({ ...raw(prompt, '2026-11-01T00:00:00.000Z'), client: 'abacus' });
    await place.run('claude', start);
    expect(place.lines.join('\n')).toContain('not a client of this version');
    expect(spoolCounts(place.stateDir)).toEqual([{ installation: 'own:1', waiting: 0, unreadable: 1 }]);
  });

  it('what waits for an installation that is gone is taken over, or removed', () => {
    const { stateDir, spool } = hookPlace();
    const gone = spoolOf(stateDir, 'named:old.example:4222');
    gone.keep(result('demo', '1'));
    gone.keep(result('demo', '2'));
    gone.setAside(gone.waiting()[0]?.name ?? '', 'a test');
    expect(spool.takeOver('named:old.example:4222')).toBe(2);
    expect(spoolCounts(stateDir)).toEqual([{ installation: 'own:1', waiting: 2, unreadable: 0 }]);
    removeSpool(stateDir, 'own:1');
    expect(spoolCounts(stateDir)).toEqual([]);
  });

  it('while the server does not answer a session starts with what it began with last, until its user changes to another server', async () => {
    const place = hookPlace();
    const started = async () => place.run('claude', start);
    await started();
    place.setDown(true);
    expect(await started()).toMatch(
      /as of \d\d:\d\d, the server does not answer \(no server\).*what is known/,
    );
    removeStarts(place.stateDir);
    expect(await started()).toContain('memory not reachable: no server');
  });

  it('a key of any length and form has one folder', () => {
    const { stateDir } = hookPlace();
    const keys = [`team:${'host:4222,'.repeat(60)}`, `team:${'host:4222,'.repeat(61)}`, 'named:../../x:1'];
    for (const key of keys) spoolOf(stateDir, key).keep(result('demo', '1'));
    expect(readdirSync(join(stateDir, 'hooks', 'spool'))).toHaveLength(3);
    const counts = spoolCounts(stateDir);
    expect(counts.map(({ waiting }) => waiting)).toEqual([1, 1, 1]);
    for (const { installation } of counts) removeSpool(stateDir, installation);
    expect(spoolCounts(stateDir)).toEqual([]);
  });
});

describe('what hooks of one conversation remember', () => {
  it('a text is replaced as a whole: a hook beside it reads the old or the new one', () => {
    const { stateDir } = hookPlace();
    const state = hookState(stateDir);
    state.remember('key', 'the old text');
    const said = join(stateDir, 'hooks', 'texts');
    const reader = openSync(join(said, readdirSync(said)[0] ?? ''), 'r');
    state.remember('key', 'new');
    expect(readFileSync(reader, 'utf8')).toBe('the old text');
    closeSync(reader);
    expect(state.peek('key')).toBe('new');
  });

  it('forgetting a text removes what holds it, the start of every session, and nothing else', () => {
    const { stateDir } = hookPlace();
    const state = hookState(stateDir);
    const spool = spoolOf(stateDir, 'own:1');
    state.remember('told', 'The queue is called "MAGPIE"');
    state.remember('other', 'The port is 9464');
    state.note('turn', { request: 'Call it "MAGPIE"' });
    spool.keepStart('demo', 'Decided: MAGP…');
    const call = { client: 'claude', payload: '{"prompt":"It is \\"MAGPIE\\""}', at: '', directory: '' };
    spool.keep({ kind: 'raw', ...call, env: {} });
    const work = join(stateDir, 'projects', 'shop-1', 'work', 'demo');
    mkdirSync(work, { recursive: true });
    for (const [name, text] of [
      ['1-implementer.prompt.md', 'Use "MAGPIE"'],
      ['2.prompt.md', 'Use it'],
    ] as const)
      writeFileSync(join(work, name), text);
    state.forgetText(holding('"MAGPIE"'));
    expect(readdirSync(work)).toEqual(['2.prompt.md']);
    expect(spool.waiting(true)).toEqual([]);
    expect([state.peek('told'), state.notes('turn'), spool.lastStart('demo')]).toEqual([
      undefined,
      [],
      undefined,
    ]);
    expect(state.peek('other')).toBe('The port is 9464');
  });

  it('half a note, as a full disk leaves it, costs no other note of the turn', async () => {
    const place = hookPlace();
    const tool = (name: string) => ({
      ...TURN,
      hook_event_name: 'PostToolUse',
      tool_name: 'Edit',
      tool_response: {},
      tool_input: { file_path: `/p/${name}` },
    });
    await place.run('claude', prompt);
    const turns = join(place.stateDir, 'hooks', 'turns');
    const file = join(turns, readdirSync(turns)[0] ?? '');
    appendFileSync(file, '\n{"entry":{"act');
    await place.run('claude', tool('a.ts'));
    await place.run('claude', tool('b.ts'));
    await place.run('claude', stop);
    expect(place.published).toEqual([expect.stringMatching(/Build the shop.*a\.ts.*b\.ts/)]);
  });
});

describe('the folder of an agent that is gone at its end', () => {
  it('its result goes to the session that the conversation had before', async () => {
    const place = hookPlace({ env: { THROUGHLINE_SESSION: '' } });
    const cwd = join(place.stateDir, 'shop');
    mkdirSync(join(cwd, '.git'), { recursive: true });
    writeFileSync(join(cwd, '.git', 'config'), '[remote "origin"]\nurl = git@host:acme/shop.git\n');
    await place.run('claude', { ...prompt, cwd });
    const tree = join(place.stateDir, 'trees', 'one');
    rmSync(cwd, { recursive: true });
    for (const folder of [cwd, tree]) await place.run('claude', { ...stop, cwd: folder, prompt_id: folder });
    const subjects = place.asked.map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.startsWith('dispatch.'))).toEqual([
      'dispatch.acme-shop.observer',
      'dispatch.acme-shop.observer',
    ]);
  });
});
