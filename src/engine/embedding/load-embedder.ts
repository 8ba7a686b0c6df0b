import type { Embedder } from '../ports/vector-store.js';
import type { EmbedderOptions } from './embedder-options.js';

/**
 * Loads the configured embedder, if there is one.
 *
 * @throws ThroughlineError `config_invalid` if a local model or the package that runs it cannot be loaded
 */
export async function loadEmbedder(options: EmbedderOptions | undefined): Promise<Embedder | undefined> {
  switch (options?.kind) {
    case undefined:
      return undefined;
    case 'http': {
      const { HttpEmbedder } = await import('./http-embedder.js');
      return new HttpEmbedder(options);
    }
    case 'local': {
      const { openLocalEmbedder } = await import('./local-embedder.js');
      return openLocalEmbedder(options);
    }
  }
}
