// An agent that plays implementer and reviewer from a script: `node scripted-agent.mjs FOLDER [PROMPT_FILE]`. It takes the prompt
// from standard input, or from the file, and finds in it who it is and which task it has. FOLDER/script.json says what
// happens at each call, by "<task> <role>"; beyond it work is completed and reviews approve. FOLDER/calls gets a line a call.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const [, , folder, file] = process.argv;
const prompt = file === undefined ? await text(process.stdin) : readFileSync(file, 'utf8');
const role = /You are the (implementer|reviewer)/.exec(prompt)[1];
const task = /^Task (.+?)(?:, round \d+)?$/m.exec(prompt)[1];
const key = `${task} ${role}`;
const calls = join(folder, 'calls');
const before = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : [];
appendFileSync(calls, `${key}\n`);
appendFileSync(join(folder, 'environment'), `${Object.keys(process.env).sort().join(' ')}\n`);
const script = existsSync(join(folder, 'script.json'))
  ? JSON.parse(readFileSync(join(folder, 'script.json'), 'utf8'))
  : {};
const turn = process.env.SCRIPTED_TURN ?? script[key]?.[before.filter((line) => line === key).length];
const what = turn ?? (role === 'implementer' ? 'completed' : 'approved');

switch (what) {
  case 'none':
    say('I have done it, and it works.');
    break;
  case 'garbage':
    say('BEGIN_DISPATCH_RESULT\n}}{{ task: ???\nEND_DISPATCH_RESULT');
    break;
  case 'hang': {
    // With a child of its own, which ignores what may be ignored.
    const stubborn = spawn(process.execPath, [
      '-e',
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)",
    ]);
    writeFileSync(join(folder, 'child'), String(stubborn.pid));
    setInterval(() => {}, 1000);
    break;
  }
  case 'cut':
    // A result that ends too early, as where a model has no tokens left.
    say(`BEGIN_DISPATCH_RESULT\n{"task_id": "${task}", "summary": "it says BEGIN_DISPATCH_RES`);
    break;
  case 'crash':
    console.error('the model said: out of credit');
    process.exit(1);
    break;
  case 'other':
    say(block({ task_id: `${task}.other`, status: 'completed' }));
    break;
  case 'loose':
    say(`\`\`\`json\n{"taskId": "${task}", "status": "done",}\n\`\`\``);
    break;
  default:
    result(what);
}

function result(verdict) {
  const fixes = verdict === 'needs_changes' ? { required_fixes: [`fix ${before.length} of ${task}`] } : {};
  say(
    block(
      role === 'implementer'
        ? { task_id: task, status: verdict, summary: `${task} is ${verdict}` }
        : { task_id: task, assessment: verdict, ...fixes },
    ),
  );
  console.error('tokens used: 1,000');
}

function block(value) {
  return `BEGIN_DISPATCH_RESULT\n${JSON.stringify(value)}\nEND_DISPATCH_RESULT`;
}

function say(words) {
  console.log(`Done.\n\n${words}`);
}
