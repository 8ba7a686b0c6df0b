import { VERSION } from '../../src/version.js';
import { clientsPage } from './clients.js';
import { commandsPage } from './commands.js';
import { errorsPage } from './errors.js';
import type { Written } from './pages.js';
import { plansPage } from './plans.js';
import { pluginFiles } from './plugin-files.js';
import { promptsPage } from './prompts.js';
import { referencePage, typedFiles } from './python.js';
import { configurationPage, sourceLayoutPage } from './reference.js';
import { resultsPage } from './results.js';
import { jsonSchemas, schemasPage } from './schemas.js';
import { sdkPage } from './sdk.js';
import { subjectsPage } from './subjects.js';

/** All files that are generated from the code: `npm run docs` writes them, and `test/docs/written.test.ts` compares. */
export const WRITTEN: Written = {
  ...clientsPage(),
  ...commandsPage(),
  ...errorsPage(),
  ...plansPage(),
  ...promptsPage(),
  ...typedFiles(),
  ...referencePage(),
  ...configurationPage(),
  ...sourceLayoutPage(),
  ...resultsPage(),
  ...sdkPage(),
  ...subjectsPage(),
  ...jsonSchemas(),
  ...schemasPage(),
  ...pluginFiles(VERSION),
};
