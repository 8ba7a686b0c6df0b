/** One instruction of a Dockerfile: its name in capitals, and what follows it. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** What lies between one FROM and the next. */
export interface Stage {
  /** As `FROM … AS <name>` says; undefined where it has none. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile, in order. */
export function stagesOf(dockerfile: string): Stage[] {
  const stages: { name: string | undefined; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(dockerfile)) {
    if (instruction.name === 'FROM') {
      const [, name] = /\bAS\s+(\S+)$/i.exec(instruction.rest) ?? [];
      stages.push({ name, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`${instruction.name} before the first FROM`);
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

function instructionsOf(dockerfile: string): Instruction[] {
  return dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name, rest] = /^\s*(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [{ name: name.toUpperCase(), rest }];
    });
}
