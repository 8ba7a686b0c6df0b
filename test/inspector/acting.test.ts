import { describe, expect, it } from 'vitest';
import { seriousFindings } from '../support/accessibility.js';
import { inspectorOfFile } from '../support/browser.js';
import { soon } from '../support/soon.js';
import { implemented, newSession, publishWire, publishWork } from '../support/system.js';
import { goTo } from './looks.js';

/** A person answers, corrects and decides in a real browser, by keyboard; the next prompt shows it. */
const opened = await inspectorOfFile();
const { page, origin, system } = opened;
const { client } = system;
const { tools } = client;

const promptOf = async (session: string, taskId: string) => {
  const request = { session, taskId, role: 'implementer', taskPrompt: 'Serve the metrics' } as const;
  return (await client.compile({ kind: 'dispatch', ...request })).prompt;
};

/** Returns the name of the focused element. */
const focused = () =>
  page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent');

async function asking(name: string): Promise<string> {
  const session = newSession(name);
  const questions = [{ text: 'Which port?', options: ['9090', '9464'] }];
  const fact = { subject: 'sessions', relation: 'live in', object: 'postgres', tags: ['decision' as const] };
  await publishWork(client, session, '1', { status: 'blocked', questions, facts: [fact] }, { wait: true });
  return session;
}

describe('a person', () => {
  it('the one question among many sessions is on the first page, and is answered there by keyboard', async () => {
    for (let n = 0; n < 30; n += 1) await tools.noteAdd({ session: newSession(`quiet-${n}`), content: 'n' });
    const session = await asking('metrics');
    await goTo(page, origin, '/');
    const needs = page.getByRole('region', { name: 'Needs you' });
    const row = needs.getByRole('listitem').filter({ hasText: 'Which port?' });
    await row.getByRole('button', { name: '9464' }).focus();
    // Held or pressed twice, Enter acts once, though another button gets the focus.
    const pressAgain =
      'addEventListener("focusin", ({ target }) => setTimeout(() => target.click(), 100), { once: true })';
    await page.evaluate(pressAgain);
    await page.keyboard.down('Enter');
    await row.getByText('You answered “9464”').waitFor();
    await expect.poll(focused).toBe(`Take it back: Which port?, ${session}`);
    await page.waitForTimeout(600);
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await promptOf(session, '1')).toMatch(/Asked: "Which port\?" Answered.*9464/);
    // The keyboard is at the way back, and from there at the question again.
    await page.keyboard.press('Enter');
    await row.getByLabel('Your answer: Which port?').waitFor();
    expect(await promptOf(session, '1')).not.toContain('Answered');
    await expect.poll(focused).toBe(`9090: Which port?, ${session}`);
    await page.waitForTimeout(600);
    await page.keyboard.press('Enter');
    await row.getByText('You answered “9090”').waitFor();
    // It counts no more, and stays until the page is left.
    const others = (await needs.getByRole('listitem').count()) - 1;
    await expect.poll(() => needs.getByRole('heading').textContent()).toBe(`Needs you ${others}`);
    await page.reload();
    await page.locator('.session-row').first().waitFor();
    expect(await row.count()).toBe(0);
  });

  it('who blocks on a result is unblocked, and that is taken back, in its place among other needs', async () => {
    const session = newSession('blocks');
    await publishWork(client, session, '1', { status: 'blocked', blockers: ['No licence'] }, { wait: true });
    await publishWork(client, session, '2', { status: 'blocked', blockers: ['No disk'] }, { wait: true });
    await goTo(page, origin, `/s/${session}`);
    const rows = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
    const tasks = () => rows.locator('.task-id').allTextContents();
    const order = await tasks();
    await page.getByRole('region', { name: 'Work' }).getByText('did 1').waitFor();
    await rows.getByRole('button', { name: 'Unblock: No licence' }).press('Enter');
    await expect.poll(focused).toBe('Take it back: No licence, task 1');
    expect(await promptOf(session, '1')).toContain('It is no longer blocked');
    await page.waitForTimeout(2_500);
    expect(await tasks()).toEqual(order);
    await page.keyboard.press('Enter');
    await rows.getByLabel('Say something: No licence').waitFor();
    expect(await promptOf(session, '1')).not.toContain('It is no longer blocked');
  });

  it('a second person who answers is told who answered what, and may replace it', async () => {
    const session = await asking('twice');
    await goTo(page, origin, '/');
    const row = page.getByRole('listitem').filter({ hasText: session });
    const field = row.getByLabel('Your answer: Which port?');
    await field.fill('Any free one');
    await tools.blockerAnswer({ session, task: '1', answer: '9090', by: 'ana', person: true });
    await page.getByText('Needs you').waitFor();
    await field.press('Enter');
    await row.getByRole('alert').filter({ hasText: 'ana answered “9090”' }).waitFor();
    expect(await promptOf(session, '1')).toContain('9090');
    await row.getByRole('button', { name: 'Replace it' }).click();
    await row.getByText('You answered').waitFor();
    expect(await promptOf(session, '1')).toContain('Any free one');
    const again = { session, task: '1', answer: '8080', replaces: 'Any free one', by: 'ana' };
    await tools.blockerAnswer({ ...again, person: true });
    await row.getByText('Replaced by ana: “Which port? 8080”').waitFor();
    expect(await row.getByRole('button', { name: 'Take it back' }).count()).toBe(0);
  });

  it('no double click carries out what asks first, nor acts twice', async () => {
    const session = await asking('twitchy');
    await tools.taskAdd({ session, content: 'Write the docs' });
    await goTo(page, origin, `/s/${session}`);
    const before = (await client.runs.status({ session })).sequence;
    await page.getByRole('button', { name: 'More' }).click();
    for (const verb of ['Cancel', 'Complete', 'Archive']) {
      const button = page.getByRole('button', { name: new RegExp(`^${verb}`) });
      await button.dblclick();
      await page.getByRole('group', { name: `${verb}?` }).waitFor();
      await button.dblclick();
    }
    expect((await client.runs.status({ session })).sequence).toBe(before);
    await page.getByText('Its timeline and its prompts are erased for good').waitFor();
    await page.getByRole('button', { name: 'Yes, cancel' }).click();
    await page.getByRole('button', { name: 'Reopen: Write the docs' }).click();
    // The second click meets what has come to its place: a button, or the link of another row.
    const done = page.getByRole('button', { name: 'Done: Write the docs' });
    for (const place of [done, page.getByTitle('Timeline of TAS-1')]) {
      await place.hover();
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
    }
    await done.click();
    await page.getByRole('button', { name: 'Reopen: Write the docs' }).waitFor();
    expect((await client.runs.status({ session })).sequence).toBe(before + 3);
  });

  it('text is read in its own direction, and signs that nobody sees are shown', async () => {
    const session = newSession('signs');
    await tools.taskAdd({ session, content: 'שלום עולם' });
    await tools.taskAdd({ session, content: 'Run \u202egnissim\u202c files' });
    await goTo(page, origin, `/s/${session}`);
    await page.locator('[dir=auto]', { hasText: /^שלום עולם$/ }).waitFor();
    // In a row beside other text, it begins at the right edge of its own block.
    await publishWork(client, session, '7', { status: 'blocked', questions: [{ text: 'איזו ספרייה?' }] });
    const question = page.locator('.need-text > p', { hasText: 'איזו ספרייה?' });
    await question.waitFor();
    expect(await question.getAttribute('dir')).toBe('auto');
    await page.getByText('Run \\u202egnissim\\u202c files', { exact: true }).waitFor();
    // Behind words of ours, it keeps its order.
    await publishWork(client, session, '8', { status: 'blocked', blockers: ['אין PDF-Kit, וצריך אישור'] });
    await goTo(page, origin, '/');
    await page.locator('.need-text > p > bdi', { hasText: /^אין PDF-Kit, וצריך אישור$/ }).waitFor();
  });

  it('a wrong statement is corrected, retracted and restored in its row, and prompts follow', async () => {
    const session = await asking('facts');
    expect(await promptOf(session, '2')).toContain('postgres');
    const content = `${'A long rule. '.repeat(60)}The end`;
    await tools.noteAdd({ session, content, type: 'decision', by: 'ana' });
    await goTo(page, origin, `/s/${session}`);
    const fact = page.getByRole('region', { name: 'The fact' });
    await page.locator('.statement', { hasText: 'A long rule' }).press('Enter');
    await fact.locator('.fact-says', { hasText: 'The end' }).waitFor();
    expect(await fact.getByLabel('What it should say').inputValue()).toBe(content);
    await page.locator('.statement', { hasText: 'postgres' }).press('Enter');
    await fact.getByLabel('What it should say').fill('redis');
    await page.keyboard.press('Control+Enter');
    await page.locator('.rows li .fact-says', { hasText: 'sessions live in redis' }).waitFor();
    const corrected = await promptOf(session, '2');
    expect(corrected).toContain('redis');
    expect(corrected).not.toContain('postgres');
    await fact.getByRole('button', { name: /^Retract/ }).press('Enter');
    await fact.getByRole('button', { name: 'Yes, retract' }).press('Enter');
    // Its row stays where it stood, and the keyboard is at the way back.
    await page.locator('.rows li', { hasText: 'retracted by' }).locator('.fact-says.struck').waitFor();
    await expect.poll(focused).toMatch(/^Restore/);
    await page.waitForTimeout(600);
    expect(await promptOf(session, '2')).not.toContain('redis');
    await page.waitForTimeout(600);
    await fact.getByRole('button', { name: /^Restore/ }).press('Enter');
    await fact.locator('.fact-says.struck').waitFor({ state: 'detached' });
    expect(await promptOf(session, '2')).toContain('redis');
    expect(await seriousFindings(page)).toEqual([]);
    await fact.getByLabel('What it should say').fill('valkey');
    const id = new URL(page.url()).searchParams.get('id') ?? '';
    await tools.factCorrect({ session, id, text: 'etcd', by: 'ana', person: true });
    await fact.getByText('corrected by ana').waitFor();
    expect(await fact.getByLabel('What it should say').inputValue()).toBe('valkey');
  });

  it('tasks, notes and messages are added and settled on the page of a session', async () => {
    const session = await asking('board');
    await goTo(page, origin, `/s/${session}`);
    await page.getByLabel('A new task').fill('Write the docs');
    await page.keyboard.press('Enter');
    const work = page.getByRole('region', { name: 'Work' });
    const task = work.getByRole('listitem').filter({ hasText: 'Write the docs' });
    await task.getByRole('button', { name: 'Done' }).click();
    // It is undone where it was done.
    await work.getByText('1 open').waitFor();
    await task.getByRole('button', { name: 'Reopen' }).click();
    await work.getByText('2 open').waitFor();
    await task.getByRole('button', { name: 'Done' }).click();
    await task.getByRole('button', { name: 'Reopen' }).waitFor();
    await page.getByLabel('Say something to later agents').fill('Use CRLF');
    await page.keyboard.press('Enter');
    const holds = page.getByRole('region', { name: 'What holds' });
    await holds.locator('.statement', { hasText: 'Use CRLF' }).getByText('you', { exact: true }).waitFor();
    await page.getByLabel(/^As/).selectOption('message');
    await page.getByLabel('Say something to later agents').fill('Freeze until Friday');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Messages' }).getByText('Freeze until Friday').waitFor();
    expect(await promptOf(session, '2')).toContain('Freeze until Friday');
    await page.getByRole('button', { name: 'Mark as read: Freeze' }).press('Enter');
    await expect.poll(focused).toBe('Mark as unread: Freeze until Friday');
    await page.waitForTimeout(600);
    expect(await promptOf(session, '2')).not.toContain('Freeze until Friday');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Mark as read: Freeze' }).waitFor();
    expect(await promptOf(session, '2')).toContain('Freeze until Friday');
    expect((await tools.noteList({ session })).notes).toMatchObject([
      { content: 'Use CRLF', type: 'decision' },
    ]);
    expect((await tools.taskList({ session })).tasks).toMatchObject([{ status: 'completed' }]);
  });

  it('the page says who works now, and a session is erased once its name is typed', async () => {
    const session = await asking('working');
    await tools.taskAdd({ session, content: 'Write the docs' });
    await tools.taskNext({ session, claim: 'claude-7' });
    await goTo(page, origin, `/?text=${session}`);
    await page.locator('.session-row', { hasText: 'claude-7' }).waitFor();
    await goTo(page, origin, `/s/${session}`);
    await page.getByText('claude-7 works on').waitFor();
    await page.getByRole('button', { name: 'More' }).press('Enter');
    await page.getByRole('button', { name: 'Forget' }).press('Enter');
    await page.getByLabel(/Type .* to confirm/).fill('another');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel(/Type .* to confirm/).fill(session);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/`);
    await page.getByText(`The session ${session} is erased`).waitFor();
    await soon(async () => expect((await client.runs.status({ session })).sequence).toBe(0));
  });

  it('Ctrl+K finds a session, and a file, task or fact of any session, from anywhere, and opens it', async () => {
    const session = await asking('findable');
    const worked = implemented('1', { files_modified: ['src/xylophone.ts'] });
    await publishWire(client, 'implementer', session, worked, { wait: true });
    await tools.taskAdd({ session, content: 'Polish the glockenspiel' });
    const field = page.getByLabel('A session, task, fact, file or learning');
    const found = page.getByRole('list', { name: 'Found' });
    const find = async (words: string) => {
      await goTo(page, origin, '/learnings');
      await page.keyboard.press('Control+k');
      await field.fill(words);
    };
    await find(session);
    await found.getByText(session, { exact: true }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/s/${session}`);
    await find('xylophone');
    await found.getByRole('link', { name: new RegExp(`file.*src/xylophone.ts.*${session}`) }).waitFor();
    await field.fill('glockenspiel');
    await found.getByRole('link', { name: /task.*TAS-1: Polish/ }).waitFor();
    // Enter that ends the word of an input method opens nothing.
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    expect(page.url()).toBe(`${origin}/learnings`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/s/${session}/timeline?task=TAS-1`);
    const { facts } = await tools.factFind({ session, text: 'postgres' });
    await find(`${facts[0]?.ref}`.toLowerCase());
    const fact = found.getByRole('link', { name: /fact.*sessions live in postgres/ });
    await fact.first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await fact.first().click();
    await page.getByRole('region', { name: 'The fact' }).getByText('postgres').first().waitFor();
  });
});
