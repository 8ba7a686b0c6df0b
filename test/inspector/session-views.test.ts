import { describe, expect, it } from 'vitest';
import { fillInspector } from '../../scripts/demo-inspector.mjs';
import { token } from '../../src/contracts/names.js';
import { seriousFindings } from '../support/accessibility.js';
import { inspectorOfFile } from '../support/browser.js';
import { implementer, recorded } from '../support/builders.js';
import { allDealtWith, publishWork } from '../support/system.js';
import { goTo } from './looks.js';

/** Prompt and facts in a real browser, on a recorded session. */
const opened = await inspectorOfFile();
const { page, origin, system, problems } = opened;
await fillInspector(system.client, 'memory');
await allDealtWith(system.ports);

const VIEWS = ['/s/memory/prompt', '/s/memory?past=1', '/learnings?project=throughline'];

describe('the prompt of a session', () => {
  it('a line of a prompt leads to its fact, its dispatch and its event', async () => {
    await goTo(page, origin, '/s/memory/prompt');
    const line = page.locator('.prompt-line-linked', { hasText: 'required fix' }).first();
    await line.click();
    const panel = page.getByRole('region', { name: 'Origin of the line' });
    await panel.getByText('Open findings').waitFor();
    expect(await panel.textContent()).toMatch(/must_fix.*Why.*Task\s*[\d.]+Result\s*\d+Event\s*\d+/);
    await panel.getByRole('link', { name: 'Open the fact' }).click();
    const fact = page.getByRole('region', { name: 'The fact' });
    await fact.getByText(/, reviewer, result \d+, event \d+/).waitFor();
  });

  it('the arrow keys move from line to line of a prompt', async () => {
    await goTo(page, origin, '/s/memory/prompt');
    await page.locator('.prompt-line').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('.prompt-line:focus').getAttribute('data-line')).toBe('3');
    await page.keyboard.press('End');
    const panel = page.getByRole('region', { name: 'Origin of the line' });
    await panel.getByText('Task prompt', { exact: true }).waitFor();
  });

  it('a prompt of the past is chosen from the stored ones, and shown as it was', async () => {
    await goTo(page, origin, '/s/memory/prompt');
    await page.locator('.prompt-line').first().waitFor();
    const newest = await page.locator('.prompt-text').textContent();
    const oldest = page.getByRole('region', { name: 'Stored prompts' }).getByRole('link').last();
    const [, sequence] = /seq (\d+)/.exec((await oldest.textContent()) ?? '') ?? [];
    await oldest.click();
    await page.getByText(`Compiled at event ${sequence}`, { exact: true }).waitFor();
    expect(await page.locator('.prompt-text').textContent()).not.toBe(newest);
    expect(page.url()).toMatch(/\?id=\w+$/);
    expect(await oldest.getAttribute('aria-current')).toBe('true');
  });

  it('a prompt that is not stored is not replaced by another one, and a session without any says how to get one', async () => {
    await goTo(page, origin, '/s/memory/prompt?id=none');
    await page.getByRole('alert').getByText('no prompt none of session memory is kept').waitFor();
    expect(await page.locator('.prompt-line').count()).toBe(0);
    await page.getByRole('region', { name: 'Stored prompts' }).getByRole('link').first().click();
    await page.locator('.prompt-line').first().waitFor();
    await goTo(page, origin, '/s/none/prompt');
    await page.getByText('throughline prompt --session none --kind session-start').waitFor();
  });
});

describe('what an agent was told', () => {
  it('the session says what its agents read last, and each line of a session start leads to its statement', async () => {
    await goTo(page, origin, '/s/memory');
    const told = page.getByRole('region', { name: 'Last told' });
    const start = told.getByRole('listitem').filter({ hasText: 'session start' });
    await start.getByText(/\d+ tokens, \d+ statements?/).waitFor();
    await start.getByRole('link', { name: 'Read' }).click();
    const line = page.locator('.prompt-line-linked', { hasText: 'Rules:' });
    await line.click();
    const panel = page.getByRole('region', { name: 'Origin of the line' });
    await panel.getByText('rules that hold, the newest first').waitFor();
    // What changed since the one before is marked.
    await page.locator('.prompt-line-new').first().waitFor();
    await page.getByRole('region', { name: 'Gone since the prompt before' }).waitFor();
    const links = panel.getByRole('link', { name: /^Open M/ });
    await links.first().click();
    const fact = page.getByRole('region', { name: 'The fact' });
    await fact.getByText(/^task .*event \d+/).waitFor();
  });

  it('the list and the page of a session count the same progress', async () => {
    await goTo(page, origin, '/');
    await page.locator('.session-row', { hasText: 'memory' }).getByText('10/16').waitFor();
    await goTo(page, origin, '/s/memory');
    await page.getByText('10 of 16 done', { exact: true }).waitFor();
  });

  it('what holds is shown by kind and by words, and what ended says what ended it', async () => {
    await goTo(page, origin, '/s/memory');
    const holds = page.getByRole('region', { name: /^What h/ });
    const decisions = holds.getByRole('button', { name: /^Decisions \d/ });
    const count = Number((await decisions.textContent())?.split(' ').at(-1));
    await decisions.click();
    await expect.poll(() => holds.locator('.statement').count()).toBe(count);
    await decisions.click();
    await page.getByLabel('Filter').fill('dense');
    await holds.locator('.statement', { hasText: 'as dense' }).waitFor();
    expect(await holds.getByText('modified by').count()).toBe(0);
    const { tools } = system.client;
    const { facts } = await tools.factFind({ session: 'memory', kind: 'rule', text: 'dense' });
    await tools.factRetract({ session: 'memory', id: `${facts[0]?.ref}`, by: 'ana', person: true });
    await goTo(page, origin, '/s/memory?past=1');
    await holds.locator('.statement', { hasText: 'retracted by ana' }).click();
    await page.getByRole('region', { name: 'The fact' }).getByText('Ended', { exact: true }).waitFor();
  });
});

describe('a session with more facts than it keeps', () => {
  it('its prompt is visible soon after the click, and what holds says what is gone', async () => {
    for (let result = 1; result <= 45; result += 1) {
      const facts = Array.from({ length: 50 }, (_, n) => ({
        subject: `module ${result}-${n}`,
        relation: 'keeps',
        object: `what the parser of case ${n} has found in round ${result}`,
        tags: ['decision' as const],
      }));
      const body = implementer({ task_id: `${result}`, summary: `Round ${result}`, facts });
      await system.ports.log.append(token('full', 'session'), recorded(result, body));
    }
    await system.client.compile({ session: 'full', taskId: '46', taskPrompt: 'Write the parser of case 7' });
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await goTo(page, origin, '/s/full');
      const began = performance.now();
      await page.getByRole('link', { name: 'Prompt', exact: true }).click();
      await page.locator('.prompt-line').first().waitFor();
      times.push(Math.round(performance.now() - began));
    }
    console.log(`from the click to the prompt of 2,000 facts: ${times.join(', ')} ms`);
    // Less than one on an idle machine.
    expect(Math.min(...times)).toBeLessThan(2_000);
    await goTo(page, origin, '/s/full');
    await page.getByText('it keeps its 2,000 newest').waitFor();
  });
});

describe('every view', () => {
  it('axe finds nothing serious in any view, light or dark', async () => {
    const other = await opened.newPage({ reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const view of ['/', '/s/memory', '/s/memory/timeline', '/s/none/timeline', '/nowhere', ...VIEWS]) {
      await goTo(other, origin, view);
      found.push(...(await seriousFindings(other)).map((finding) => `${view}: ${finding}`));
    }
    await other.context().close();
    expect(found).toEqual([]);
  });

  it('on a phone a finger hits every control, and no explanation covers the prompt', async () => {
    await publishWork(system.client, 'wide-but-of-usual-length', '1', {
      status: 'blocked',
      questions: [{ text: 'x'.repeat(200), options: ['a long option '.repeat(12), 'y'.repeat(120)] }],
    });
    await system.client.tools.sessionOpen({ session: 'wide-but-of-usual-length', project: 'p'.repeat(60) });
    await allDealtWith(system.ports);
    const phone = await opened.newPage({ viewport: { width: 390, height: 844 } });
    const small: string[] = [];
    for (const view of ['/', '/s/wide-but-of-usual-length', '/s/memory', '/s/memory/timeline', ...VIEWS]) {
      await goTo(phone, origin, view);
      const found = await phone.evaluate<string[]>(`
        [...document.querySelectorAll('a, button, select, input, summary')]
          .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches('.skip-link'))
          // A row that belongs to its link is hit as a whole.
          .map((each) => [each.textContent || each.ariaLabel || each.tagName, each.matches('.row-link') ? each.closest('li, tr') : each])
          .filter(([, box]) => box.getBoundingClientRect().height < 31.5)
          .map(([name, box]) => name.slice(0, 40) + ' ' + box.getBoundingClientRect().height)`);
      small.push(...found.map((each) => `${view}: ${each}`));
      const over = await phone.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect([view, over]).toEqual([view, 0]);
    }
    // On a tablet, the names of sessions stand whole beside those of their projects.
    await phone.setViewportSize({ width: 768, height: 844 });
    await goTo(phone, origin, '/');
    const cut = `[...document.querySelectorAll('.session-row .row-link')]
      .filter((each) => each.scrollWidth > each.clientWidth).length`;
    expect(await phone.evaluate(cut)).toBe(0);
    await phone.setViewportSize({ width: 390, height: 844 });
    await goTo(phone, origin, '/s/memory/prompt');
    const origins = phone.getByRole('region', { name: 'Origin of the line' });
    expect(await origins.isVisible()).toBe(false);
    await phone.locator('.prompt-line-linked').first().focus();
    expect((await origins.boundingBox())?.height).toBeLessThan(844 * 0.35);
    await phone.context().close();
    expect(small).toEqual([]);
  });

  it('the page has complained of nothing', () => {
    // One prompt is not stored, and the browser says so.
    expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([]);
  });
});
