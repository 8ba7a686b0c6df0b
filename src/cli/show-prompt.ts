import type { PromptTrace } from '../contracts/replies/prompt-trace.js';
import { counted } from '../shared/counted.js';
import { oneLine } from '../shared/text.js';

/** Prompts that were compiled, as lines for people. */

/** A prompt that was compiled, in one line. */
export function promptLine({
  id,
  at,
  kind,
  task,
  role,
  sequence,
  tokens,
  factsShown,
  durationMs,
}: PromptTrace): string {
  const whose = [kind, role, task].flatMap((each) => (each === undefined ? [] : [oneLine(each)])).join(' ');
  return `${id}  ${at}  ${whose}  sequence ${sequence}  ${tokens} tokens  ${counted(factsShown, 'fact')}  ${durationMs} ms`;
}

/** What a prompt showed and what it left out, a line each. */
export function promptLines(prompt: PromptTrace): string[] {
  const { facts, left, learnings, hash, prefixHash, room, dropped, factsTotal } = prompt;
  return [
    promptLine(prompt),
    `hash ${hash}${prefixHash === undefined ? '' : `, prefix ${prefixHash}`}`,
    `${room} tokens of room, ${counted(dropped, 'item')} left out, ${counted(factsTotal, 'fact')} known`,
    ...facts.map(({ id, score }) => `  shown  ${id}  ${score.toFixed(2)}`),
    ...left.map(({ id, score, why }) => `  left   ${id}  ${score.toFixed(2)}  ${why}`),
    ...(learnings.length === 0 ? [] : [`learnings: ${learnings.join(', ')}`]),
  ];
}
