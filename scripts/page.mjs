// The inspector's page: src/page becomes dist/inspector, an index.html and files whose names change with their content.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { IN_PAGE, licencesIn } from './licences.mjs';

const SOURCE = fileURLToPath(new URL('../src/page', import.meta.url));
const TARGET = fileURLToPath(new URL('../dist/inspector', import.meta.url));
const MARK = '<!-- built files -->';

/** Resolves once the page is in dist/inspector. */
export async function buildPage() {
  const bundle = await rolldown({
    input: { app: join(SOURCE, 'main.tsx') },
    platform: 'browser',
    tsconfig: false,
    // The package says of its library that no module has side effects; those of the page may.
    treeshake: { moduleSideEffects: (id) => (id.startsWith(SOURCE) ? true : undefined) },
    transform: { target: 'es2022', jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [stylesInOneFile()],
  });
  await rm(TARGET, { recursive: true, force: true });
  const { output } = await bundle.write({
    dir: TARGET,
    format: 'esm',
    minify: true,
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/[name]-[hash].js',
    assetFileNames: 'assets/[name]-[hash][extname]',
  });
  await bundle.close();
  await mkdir(TARGET, { recursive: true });
  const html = await readFile(join(SOURCE, 'index.html'), 'utf8');
  if (!html.includes(MARK)) throw new Error(`src/page/index.html has no line "${MARK}"`);
  await writeFile(join(TARGET, 'index.html'), html.replace(MARK, tagsOf(output).join('\n    ')));
  await writeFile(join(TARGET, 'LICENSES.txt'), await licencesIn(output, IN_PAGE));
}

/** What the page loads at once: its styles, its script, and the files that the script imports. */
function tagsOf(output) {
  const entry = output.find((file) => file.type === 'chunk' && file.isEntry);
  const styles = output.filter((file) => file.fileName.endsWith('.css'));
  return [
    ...styles.map(({ fileName }) => `<link rel="stylesheet" href="/${fileName}">`),
    ...entry.imports.map((fileName) => `<link rel="modulepreload" href="/${fileName}">`),
    `<script type="module" src="/${entry.fileName}"></script>`,
  ];
}

/** Styles in the order in which modules import them; those of modules that are loaded later come last. */
function stylesInOneFile() {
  const texts = new Map();
  return {
    name: 'styles',
    load: {
      filter: { id: /\.css$/ },
      async handler(id) {
        texts.set(id, await readFile(id, 'utf8'));
        return { code: '', moduleType: 'js', moduleSideEffects: true };
      },
    },
    generateBundle() {
      const reached = new Set();
      const later = [];
      const visit = (id) => {
        if (reached.has(id)) return;
        reached.add(id);
        const module = this.getModuleInfo(id);
        later.push(...(module?.dynamicallyImportedIds ?? []));
        for (const each of module?.importedIds ?? []) visit(each);
      };
      visit(join(SOURCE, 'main.tsx'));
      for (const id of later) visit(id);
      const ordered = [...reached].flatMap((id) => texts.get(id) ?? []);
      if (ordered.length === 0) return;
      this.emitFile({ type: 'asset', name: 'app.css', source: minified(ordered.join('\n')) });
    },
  };
}

/** Without comments, and with one blank where there were several. Text in quotes stays as it is. */
function minified(css) {
  return css
    .replace(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*[\s\S]*?\*\/|\s+/g, (_, quoted) => quoted ?? ' ')
    .replace(
      /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|[; ]*(\}) ?| ?([{;,]) ?/g,
      (_, quoted, end, sign) => quoted ?? end ?? sign,
    )
    .trim();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPage();
