import { describe, expect, it } from 'vitest';
import { seriousFindings } from '../support/accessibility.js';
import { inspectorOfFile } from '../support/browser.js';
import { soon } from '../support/soon.js';
import { implemented, newSession, publishWire } from '../support/system.js';
import { goTo } from './looks.js';

/** A person answers, corrects and decides in a real browser, by keyboard; the next prompt shows it. */
const opened = await inspectorOfFile();
const { page, origin, system } = opened;
const { client } = system;
const { tools } = client;

const promptOf = async (session: string, taskId: string) => {
  const request = {
    kind: 'dispatch',
    session,
    taskId,
    role: 'implementer',
    taskPrompt: 'Serve the metrics',
  } as const;
  return (await client.compile(request)).prompt;
};

async function asking(name: string): Promise<string> {
  const session = newSession(name);
  await publishWire(
    client,
    'implementer',
    session,
    implemented('1', {
      status: 'blocked',
      questions: [{ text: 'Which port?', options: ['9090', '9464'] }],
      facts: [{ subject: 'sessions', relation: 'live in', object: 'postgres', tags: ['decision'] }],
    }),
    { wait: true },
  );
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
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    expect(await promptOf(session, '1')).toMatch(/Asked: "Which port\?" Answered.*9464/);
  });

  it('a question of a session is answered in words on the page of the session', async () => {
    const session = await asking('words');
    await goTo(page, origin, `/s/${session}`);
    await page.getByLabel('Your answer').fill('Any free one');
    await page.keyboard.press('Enter');
    await soon(async () => expect(await promptOf(session, '1')).toContain('Any free one'));
  });

  it('a wrong fact is corrected, then retracted, and no prompt shows it again', async () => {
    const session = await asking('facts');
    expect(await promptOf(session, '2')).toContain('postgres');
    await goTo(page, origin, `/s/${session}/facts?text=postgres`);
    await page.locator('.fact-row').click();
    const fact = page.getByRole('region', { name: 'The fact' });
    await fact.getByLabel('What it should say').fill('redis');
    await page.keyboard.press('Enter');
    await fact.locator('.fact-says', { hasText: 'redis' }).waitFor();
    const corrected = await promptOf(session, '2');
    expect(corrected).toContain('redis');
    expect(corrected).not.toContain('postgres');
    await fact.getByRole('button', { name: 'Retract', exact: true }).click();
    await fact.getByRole('button', { name: 'Retract: no prompt shows it again' }).click();
    await fact.getByText('Retracted by a person').waitFor();
    expect(await promptOf(session, '2')).not.toContain('redis');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('tasks, notes and messages are added and settled on the page of a session', async () => {
    const session = await asking('board');
    await goTo(page, origin, `/s/${session}`);
    await page.getByLabel('A new task').fill('Write the docs');
    await page.keyboard.press('Enter');
    const board = page.getByRole('region', { name: 'Board' });
    const task = board.getByRole('listitem').filter({ hasText: 'Write the docs' });
    await task.getByRole('button', { name: 'Done' }).click();
    await task.getByRole('button', { name: 'Reopen' }).waitFor();
    await page.getByLabel('A note for later agents').fill('Use CRLF');
    await page.keyboard.press('Enter');
    await page.getByLabel('A message to the next agent').fill('Freeze until Friday');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Inbox' }).getByText('Freeze until Friday').waitFor();
    expect(await promptOf(session, '2')).toContain('Freeze until Friday');
    expect((await tools.noteList({ session })).notes).toMatchObject([
      { content: 'Use CRLF', type: 'decision' },
    ]);
    expect((await tools.taskList({ session })).tasks).toMatchObject([{ status: 'completed' }]);
  });

  it('on a phone nothing is wider than the screen', async () => {
    const session = await asking('phone');
    const phone = await opened.newPage({ viewport: { width: 390, height: 800 } });
    for (const path of ['/', `/s/${session}`, `/s/${session}/facts`]) {
      await goTo(phone, origin, path);
      const over = await phone.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect([path, over]).toEqual([path, 0]);
      expect(await seriousFindings(phone)).toEqual([]);
    }
    await phone.context().close();
  });
});
