import { implemented } from '../system.js';
import type { Load } from './under-load.js';

/** Results so large that few of them fit into one request for dispatches. */
export async function publishLarge({ publish }: Pick<Load, 'publish'>, count: number): Promise<void> {
  const summary = 'x'.repeat(180_000);
  for (let index = 0; index < count; index += 1) {
    const body = Buffer.from(JSON.stringify(implemented(`t${index}`, { summary })));
    await publish({ subject: 'dispatch.large.implementer', body, id: `large:${index}` });
  }
}
