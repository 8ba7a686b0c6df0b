// Fills an installation with what the inspector has to show: a recorded session with its prompts, a board, a plan,
// learnings that wait for a person, and results that could not be used.
import { readFile } from 'node:fs/promises';

const RECORDED = new URL('demo-session.jsonl', import.meta.url);

const PLAN = `# Plan

- [x] 1. Contracts
  - [x] 1.1 Names of subjects and streams
  - [x] 1.2 Results and their parser
- [x] 2. Facts
  - [x] 2.1 Extraction by rule
  - [x] 2.2 Retrieval
- [ ] 3. Ports on NATS
  - [x] 3.1 Dispatch source
  - [x] 3.2 Snapshots
  - [ ] 3.3 Session log
- [ ] 4. Prompts
  - [x] 4.1 Stable prefix
  - [ ] 4.2 Wait for the dispatch named in after
  - [x] 4.3 Session reader
- [ ] 5. Services
  - [ ] 5.1 Make prompt.compile wait for after, with a deadline
`;

const PROMPTS = [
  ['4.2', 'implementer', 'Let prompt.compile answer as of a past sequence, and refuse after with asOf'],
  ['4.2', 'reviewer', 'Review how prompt.compile treats after and asOf'],
  ['5.1', 'implementer', 'Make prompt.compile wait for the dispatch named in after, with a deadline'],
];

const LEARNINGS = [
  ['Run the linter and the type check before a result is published', 'pattern', ['lint']],
  ['A watch on a stream is closed by the one that opened it', 'pattern', ['nats']],
  [
    'Sequences of JetStream are increasing, but not dense: never count by subtracting them',
    'insight',
    ['nats', 'sequences'],
  ],
  ['Reviewers of this project ask for a bounded wait wherever a request can hang', 'insight', ['review']],
  ['Run the linter and all type checks before a result is published', 'pattern', ['lint', 'ci']],
  ['Measure before you cache: two of the three caches so far were slower than none', 'self_knowledge', []],
];

/** Results that cannot be used, each for another reason. */
const UNUSABLE = [
  [
    'implementer',
    '{"task_id": "5.1", "status": "done-ish", "summary": "Waits for the dispatch, and gives up in time"}',
  ],
  ['reviewer', 'The change looks good to me. I would only rename the timer.'],
  [
    'reviewer',
    '{"task_id": "5.1", "status": "completed", "summary": "Wrote the wait", "files_modified": ["src/prompt.ts"]}',
  ],
];

/**
 * @param client of `connectThroughline`
 * @param session its name
 */
export async function fillInspector(client, session = 'parser') {
  await client.send('tool.session-open', {
    session,
    goal: 'A shared memory for coding agents: results in, the next prompt out',
    project: 'throughline',
  });
  await client.runs.init({ session, spec: 'memory', tasksText: PLAN });
  for (const [content, priority] of [
    ['Bound every wait of the compiler by a deadline', 1],
    ['Write the page on prompts as of a sequence', 2],
    ['Try the quick start on a machine without Docker', 3],
  ])
    await client.send('tool.task-add', { session, content, priority });
  await client.send('tool.note-add', {
    session,
    content: 'Timers of a wait are cleared before the reply is written',
    type: 'decision',
  });
  await client.send('tool.inbox-add', {
    session,
    content: 'Please keep the CLI output stable until the release',
  });
  const lines = (await readFile(RECORDED, 'utf8')).trimEnd().split('\n');
  for (const [index, line] of lines.entries()) {
    const { role, body } = JSON.parse(line);
    const { sequence } = await client.publishText(session, role, body);
    if (index % 5 === 4 || index === lines.length - 1) await compileAll(client, session, sequence);
  }
  for (const [content, type, tags] of LEARNINGS) {
    const proposed = await client.learnings.propose({
      project: 'throughline',
      content,
      type,
      tags,
      source: { session },
    });
    if (content === LEARNINGS[0][0])
      await client.proposals.accept({
        project: 'throughline',
        id: proposed.proposal.id,
        by: 'ana',
        person: true,
      });
  }
  for (const [role, body] of UNUSABLE) await client.publishText(session, role, body);
}

async function compileAll(client, session, after) {
  await client.compile({ kind: 'session-start', session, after });
  for (const [taskId, role, taskPrompt] of PROMPTS)
    await client.compile({ session, taskId, role, taskPrompt });
}

/** Two sessions beside it: one that goes round in circles, and one whose agent asks something. */
export async function fillStalled(client) {
  const session = 'deadlines';
  await client.send('tool.session-open', {
    session,
    goal: 'Every wait ends in time',
    project: 'throughline',
  });
  for (let round = 1; round <= 5; round += 1) {
    const work = {
      task_id: '7',
      status: 'completed',
      summary: `Try ${round} to bound the wait`,
      files_modified: ['src/wait.ts'],
    };
    const review = {
      task_id: '7',
      assessment: 'needs_changes',
      required_fixes: ['Bound the wait by a deadline'],
    };
    await client.publishText(session, 'implementer', JSON.stringify(work));
    await client.publishText(session, 'reviewer', JSON.stringify(review));
  }
  await client.send('tool.session-open', {
    session: 'invoices',
    goal: 'Invoices as PDF, sent by e-mail',
    project: 'billing',
  });
  await client.send('tool.task-add', {
    session: 'invoices',
    content: 'Choose a library for PDF',
    priority: 1,
  });
  const asking = {
    task_id: 'TAS-1',
    status: 'blocked',
    summary: 'Compared two libraries for PDF',
    questions: [
      { text: 'Which library: one is small, the other signs documents?', options: ['small', 'signing'] },
    ],
  };
  await client.publishText('invoices', 'implementer', JSON.stringify(asking));
}
