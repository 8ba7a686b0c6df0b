import { describe, expect, it } from 'vitest';
import { full, promptOf } from './iterations.js';

describe('the built-in template', () => {
  it('the built-in template renders everything, and leaves no placeholder and no empty heading', () => {
    const { state } = full();
    const prompt = promptOf(state, { extra: 'Be brief.', binary: './tl', now: state.lastEventAt });
    expect(prompt).not.toMatch(/\{\{|\}\}/);
    expect(prompt).not.toMatch(/\n\n\n/);
    expect(prompt).toMatch(
      /^# Throughline Session\n\nGoal: Write a parser\n\n## Spec\n> # A parser\n>\n> It parses\.\n\n## Tool Commands\n/,
    );
    expect(prompt).toContain('`./tl tool task-add --session demo --content "description"`\n');
    expect(prompt).toContain('\nSession: demo | Iteration: #2\nBoard: 1 ready | 1 waiting | 1 completed\n');
    expect(prompt).toContain('\n## Recent Progress\n- #1 (5min ago): Lexer done\n');
    expect(prompt).toContain('\n## Inbox\n- [MSG-1] (3min ago) from an agent (mcp): Look at the build\n');
    expect(prompt).toContain('\n## Current Tasks\nREMAINING:\n  - [P2] [TAS-2] Write the parser\n');
    expect(prompt.endsWith('\n\nBe brief.')).toBe(true);
  });

  it('the built-in template asks for no list that the prompt holds already, and says to review what is above', () => {
    const prompt = promptOf(full().state);
    expect(prompt).not.toMatch(/task-list|note-list|inbox-list|Check inbox/);
    const order = [
      '## Inbox',
      '## Current Tasks',
      '## Workflow',
      '**Review inbox above**',
      '**Pick ONE ready task**',
    ];
    const places = order.map((text) => prompt.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    for (const heading of ['## If Something Goes Wrong', '### Tests Failing', '## Rules']) {
      expect(prompt).toContain(heading);
    }
  });

  it('the built-in template begins with what stays the same while a session goes on', () => {
    const played = full();
    const before = promptOf(played.state);
    played
      .after('task-next', { claim: 'x' })
      .after('inbox-mark-read', { id: '1' })
      .after('iteration-start', {});
    played.after('note-add', { content: 'more' });
    const after = promptOf(played.state);
    const stable = before.slice(0, before.indexOf('\n---\n'));
    expect(stable.length).toBeGreaterThan(1800);
    expect(after).not.toBe(before);
    expect(after.startsWith(stable)).toBe(true);
  });

  it('the built-in template says once when the session ends, and what to do with no ready task', () => {
    const prompt = promptOf(full().state);
    expect(prompt).not.toContain('session-complete required');
    expect(prompt.match(/ALL tasks are/g)).toHaveLength(1);
    expect(prompt).toContain('With none ready or in progress, go to step 5: the summary says what blocks');
    expect(prompt).toContain('AGENT is your name');
  });
});
