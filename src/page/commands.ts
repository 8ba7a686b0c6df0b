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
  followPlan: (of: string) => `throughline plan follow tasks.md --session ${of}`,
  publish: (of: string) => `throughline publish implementer --session ${of} --file result.json`,
  startIteration: (of: string) => `throughline tool iteration-start --session ${of}`,
  addNote: (of: string) => `throughline note add --session ${of} "The CI machine has no docker"`,
  sendMessage: (of: string) => `throughline inbox add --session ${of} "Please look at the build first"`,
  propose: (of = 'default') =>
    `throughline learning propose "Run the linter before you hand in" --project ${of}`,
} as const;
