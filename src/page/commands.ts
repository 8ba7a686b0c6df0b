/**
 * Each command that the page shows, by its use; `test/e2e/page-commands.test.ts` runs all of them.
 *
 * @param of the session or the project in question
 */
export const COMMANDS = {
  up: () => 'throughline up',
  openPage: () => 'throughline open',
  openSession: () => 'throughline session open demo --goal "A first try"',
  addTask: (of: string) => `throughline task add --session ${of} "The first task"`,
  publish: (of: string) => `throughline publish implementer --session ${of} --file result.json`,
  propose: (of = 'default') =>
    `throughline learning propose "Run the linter before you hand in" --project ${of}`,
} as const;
