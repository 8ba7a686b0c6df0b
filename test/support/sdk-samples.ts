import { connectThroughline, ThroughlineError } from '../../src/index.js';

/**
 * The samples of docs/reference/sdk.md, each between `#region` and `#endregion`: the page shows them, a test runs them.
 *
 * @returns what they came to
 */
export async function sdkSamples() {
  // #region connectThroughline
  const client = await connectThroughline();
  const session = 'demo';
  // #endregion
  try {
    // #region session
    const demo = client.session(session);
    // #endregion

    // #region session.publish
    const { sequence: after } = await demo.publish('reviewer', {
      taskId: '0',
      assessment: 'needs_changes',
      requiredFixes: ['Return an empty list for empty input'],
    });
    // #endregion

    // #region session.watch
    for await (const event of demo.watch({ after: 0 })) {
      console.log(event.kind, event.task, event.summary);
      if (event.dispatch === after) break;
    }
    // #endregion

    // #region publishText
    const answer = `The parser works.
BEGIN_DISPATCH_RESULT
{"task_id":"1","status":"completed","summary":"Parser done","files_modified":["src/parser.ts"]}
END_DISPATCH_RESULT`;
    const published = await client.publishText(session, 'implementer', answer, { wait: true });
    console.log(published.sequence, published.result.status);
    // #endregion

    // #region compile
    const compiled = await client.compile({
      session,
      taskId: '2',
      taskPrompt: 'Extend the parser',
      after: published.sequence, // the prompt knows that result
      budget: { inputTokens: 3000 },
    });
    console.log(compiled.prompt, compiled.budget.used, compiled.budget.dropped);
    // #endregion

    // #region tools
    const { task } = await demo.tools.taskAdd({ content: 'Write the printer', priority: 1 });
    await demo.tools.taskStatus({ id: task.id, status: 'in_progress' });
    const found = await demo.tools.factFind({ text: 'parser' });
    console.log(task.id, task.created_at, found.facts.length);
    // #endregion

    // #region learnings
    const content = 'Run the linter before you hand in';
    const { proposal } = await client.learnings.propose({ content, type: 'pattern', project: session });
    await client.proposals.accept({ id: proposal.id, project: session, person: true });
    const { results } = await client.learnings.search({ query: 'linter', project: session });
    console.log(results.map(({ learning }) => learning.content));
    // #endregion

    // #region traces
    await client.traces.append({
      session,
      entries: [
        {
          id: 'step-1',
          intent_id: 'INT-1',
          action_type: 'TOOL_EXECUTION',
          result: { status: 'SUCCESS', output_summary: '12 tests passed' },
        },
      ],
    });
    const { summary } = await client.traces.compact({ session, intentId: 'INT-1' });
    console.log(summary);
    // #endregion

    // #region ThroughlineError
    let code: string | undefined;
    try {
      await client.tools.taskStatus({ session, id: 'TAS-99', status: 'completed' });
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error;
      code = error.code; // not_found: stable, so branch on it
      console.log(error.message, error.fix);
    }
    // #endregion
    return { published, compiled, found, results, code };
  } finally {
    // #region close
    await client.close();
    // #endregion
  }
}
