import { loadTokenizer } from '../../config/load-tokenizer.js';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT, SERVICE_NAMES } from '../../contracts/names.js';
import { waitLimit } from '../../engine/folding/caught-up.js';
import { systemClock } from '../../engine/ports/clients.js';
import { scannerFor } from '../../memory/redaction/secretlint-scanner.js';
import type { Endpoint } from '../../nats/micro/service-answer.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { guarded } from '../common/request-guard.js';
import { numbersOf, type Serving, type Sessions } from '../common/service-context.js';
import { serveMicro } from '../common/service-metrics.js';
import type { Projects } from '../learnings/serve-learnings.js';
import { CompileTimes, createPastPrompts, createPromptCompiler } from './prompt-compiler.js';
import { PromptKeeper } from './prompt-keeper.js';
import { createPromptLearnings } from './prompt-learnings.js';
import { Telemetry } from './telemetry.js';

export async function serveCompiler(
  nats: NatsPorts,
  sessions: Sessions,
  projects: Projects,
  serving: Serving,
): Promise<void> {
  const { config, logger, shutdown, lifecycle, monitoring } = serving;
  const telemetry = new Telemetry({ store: nats.telemetry, log: nats.log, logger, lifecycle });
  shutdown.add('the telemetry', () => telemetry.stop());
  const times = new CompileTimes();
  monitoring.metrics.add(times.collect);
  const stored = { ring: nats.prompts, secrets: scannerFor(config), clock: systemClock };
  const keeper = new PromptKeeper({ ...stored, logger });
  monitoring.metrics.add(() => ({
    throughline_prompts_kept_total: [[{}, keeper.counts.kept]],
    throughline_prompts_dropped_total: [[{}, keeper.counts.dropped]],
  }));
  shutdown.add('the keeper of prompts', () => keeper.stop());
  const { reader, relevance, wordVectors } = projects;
  const options = {
    ...sessions,
    log: nats.log,
    learnings: createPromptLearnings({ reader, relevance, logger }),
    wordVectors,
    tokenizers: loadTokenizer,
    waiters: waitLimit(),
    afterTimeoutMs: config.afterTimeoutMs,
  };
  const compile = createPromptCompiler({ ...options, telemetry, keeper, times });
  const past = createPastPrompts(options);
  await serveMicro(nats.connection, serving, {
    name: SERVICE_NAMES.compiler,
    description: 'Compiles the next prompt from what a session remembers',
    what: 'the prompt compiler',
    own: () => ({ ...numbersOf(sessions), prompts: keeper.counts, compiled: times.totals }),
    // Requests are redacted only when stored: the prompt contains them as written.
    endpoints: guarded<Endpoint>({ ...config, logger }, [
      {
        name: 'compile',
        subject: COMPILE_SUBJECT,
        bySession: true,
        description: 'session, taskId, taskPrompt in; prompt out',
        handle: compile,
        lower: 'maxFacts, maxTokens or a shorter taskPrompt',
      },
      {
        name: 'past',
        subject: PAST_PROMPT_SUBJECT,
        bySession: true,
        description: 'the same with asOf: the prompt as it was; not counted, not kept',
        handle: past,
        lower: 'maxFacts, maxTokens or a shorter taskPrompt',
      },
    ]),
  });
}
