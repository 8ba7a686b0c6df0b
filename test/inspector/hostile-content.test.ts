import { expect, it } from 'vitest';
import type { Role } from '../../src/contracts/kinds.js';
import { ATTACKS } from '../support/attacks.js';
import { inspectorOfFile } from '../support/browser.js';
import { allDealtWith } from '../support/system.js';
import { goTo, watchedFor } from './looks.js';

/** Texts of agents that try to run code in the browser. */
const MARKUP = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(2)</script>',
  '<svg onload=alert(3)><script>alert(4)</script></svg>',
  '"><iframe src="javascript:alert(5)"></iframe>',
  '<link rel=stylesheet href=https://attack.example/x.css><style>@import "https://attack.example/y"</style>',
  '<a href="javascript:alert(6)">click</a> [click](javascript:alert(7)) ![](https://attack.example/z.png)',
  '<form action=https://attack.example><input autofocus onfocus=alert(8)></form>',
  `{{constructor.constructor("alert(9)")()}} \${alert(10)} <%= alert(11) %>`,
  '<base href=https://attack.example/><meta http-equiv=refresh content="0;url=https://attack.example">',
];

/** What no text of an agent may become. */
const RUNNABLE =
  'iframe, form, base, style, img, main script, [onload], [onerror], main link, a[href^="javascript:" i]';

const { page, origin, system, problems } = await inspectorOfFile();
const SAID = [...MARKUP, ...ATTACKS.filter((text) => text.trim() !== '')];

it('hostile texts in every view execute nothing, load nothing and are shown as they are', async () => {
  const { client } = system;
  const session = 'hostile';
  await client.send('tool.session-open', { session, goal: MARKUP.join(' '), project: 'hostile' });
  const publish = (role: Role, body: object) => client.publishText(session, role, JSON.stringify(body));
  const say = async (said: string, index: number) => {
    const at = (offset: number) => SAID[(index + offset) % SAID.length] ?? said;
    await publish('implementer', {
      task_id: `${index % 7}`,
      status: 'completed',
      summary: said,
      files_modified: [`${at(1)}`.slice(0, 200), 'src/a.ts'],
      follow_up_actions: [at(2)],
      tests: [{ command: at(3), passed: false, failures: [at(4)] }],
    });
    await publish('reviewer', {
      task_id: `${index % 7}`,
      assessment: 'needs_changes',
      required_fixes: [said, at(5)],
      issues: [{ severity: 'critical', file: at(1).slice(0, 200), message: at(6), fix: at(7) }],
    });
    await client.publishText('hostile', 'reviewer', `${said} {"task_id": "1"}`);
    const visible = said
      .replace(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, 180);
    if (visible !== '')
      await client.learnings.propose({ project: 'hostile', content: visible }).catch(() => undefined);
    if (index % 4 === 0)
      await client.send('tool.note-add', { session: 'hostile', content: visible || 'x', type: 'tip' });
  };
  await Promise.all(SAID.map(say));
  await allDealtWith(system.ports);
  await client.compile({ session: 'hostile', taskId: '1', taskPrompt: MARKUP.join('\n'), maxFacts: 60 });

  const seen = watchedFor(page, origin);
  for (const view of [
    '/',
    '/s/hostile',
    '/s/hostile/timeline',
    `/s/hostile/prompt?id=${encodeURIComponent(MARKUP[0] ?? '')}`,
    '/s/hostile/prompt',
    '/s/hostile?past=1',
    '/learnings?project=hostile',
    `/s/${encodeURIComponent(MARKUP[0] ?? '')}?text=${encodeURIComponent(MARKUP[1] ?? '')}`,
  ]) {
    await goTo(page, origin, view);
    await page.mouse.move(400, 400);
    expect(await page.locator(RUNNABLE).all(), view).toEqual([]);
  }
  await goTo(page, origin, '/');
  const stalled = page.getByText(/the same fix required 2 times: \S*<\S/);
  await stalled.first().waitFor();
  await goTo(page, origin, '/s/hostile');
  const evidence = page.getByRole('button', { name: 'Show the evidence' });
  // Each that is open has another name.
  for (let left = await evidence.count(); left > 0; left--) await evidence.first().click();
  await page.getByText('<script>alert(2)</script>').first().waitFor();
  await goTo(page, origin, '/s/hostile/timeline');
  for (const row of (await page.locator('.entry-row').all()).slice(0, 10)) await row.click();
  await page.getByRole('region', { name: 'Details of the entry' }).waitFor();
  await goTo(page, origin, '/s/hostile?text=script');
  await page.getByText('< script>alert(2)< /script>').first().waitFor();
  await page.locator('.statement').first().click();
  await page.getByRole('region', { name: 'The fact' }).locator('.fact-says').waitFor();
  await goTo(page, origin, '/s/hostile/prompt');
  for (const line of (await page.locator('.prompt-line-linked').all()).slice(0, 20)) await line.hover();
  await goTo(page, origin, '/s/hostile');
  await page.getByRole('button', { name: /^Show \d+ more/ }).click();
  const closed = page.getByRole('button', { name: /^Open:/ });
  for (let n = 0; n < 5; n += 1) await closed.first().click();
  expect(seen).toEqual([]);
  // A session of a name that no session can have is refused, and the browser says so.
  expect(problems.filter((problem) => !/status of 4\d\d/.test(problem))).toEqual([]);
});
