import type { FilesListed } from '../../contracts/replies/fact-reply.js';
import { ButtonLink, Clock, FilterField } from '../components/fields.js';
import { AskedView, CardHead, Empty, Panel } from '../components/states.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted } from '../words.js';

/** Files that results changed, and which of them change together. */
export function FilesTogether(props: {
  readonly session: string;
  readonly file: string | undefined;
  readonly text: string;
}) {
  const { session, file, text } = props;
  const asked = useAsk(
    'tool.file-list',
    { session, limit: 200, text: text || undefined },
    `facts:${session}`,
  );
  return (
    <>
      <div class="tools">
        <FilterField
          label="Path"
          value={text}
          placeholder="src/parser"
          onFilter={(value) => setParams({ text: value })}
        />
      </div>
      <AskedView asked={asked} what="files">
        {(reply) =>
          reply.files.length === 0 ? (
            <Empty title={text === '' ? 'No result has named a file yet' : 'No file fits'}>
              Results name the files that they changed in <code>files_modified</code>.
            </Empty>
          ) : (
            <Files session={session} reply={reply} file={file} />
          )
        }
      </AskedView>
    </>
  );
}

function Files(props: {
  readonly session: string;
  readonly reply: FilesListed;
  readonly file: string | undefined;
}) {
  const { session, reply, file } = props;
  const chosen = reply.files.findIndex(({ path }) => path === file);
  const shown = reply.files[chosen];
  const together = (index: number) =>
    reply.links
      .flatMap(({ from, to, together: times }) => {
        const other = reply.files[from === index ? to : to === index ? from : -1];
        return other === undefined ? [] : [{ path: other.path, times }];
      })
      .sort((one, other) => other.times - one.times);
  return (
    <div class={`split ${shown === undefined ? '' : 'split-open'}`}>
      <section class="card split-list" aria-label="Files">
        <CardHead title="Files">
          {reply.files.length} of {reply.total}
        </CardHead>
        <ol class="file-list">
          {reply.files.map(({ path, uses }, index) => {
            const [nearest] = together(index);
            return (
              <li key={path}>
                <a
                  data-row
                  class="pick file-row"
                  href={fileHref(session, path)}
                  aria-current={index === chosen ? 'true' : undefined}
                >
                  <span class="mono one-line file-path">
                    <bdi>{path}</bdi>
                  </span>
                  {nearest === undefined ? null : (
                    <span class="quiet small one-line">with {nearest.path}</span>
                  )}
                  <span class="quiet figure">{counted(uses, 'result')}</span>
                </a>
              </li>
            );
          })}
        </ol>
      </section>
      <div class="split-detail">
        {shown === undefined ? null : (
          <Panel
            label="The file"
            title={<span class="mono">{shown.path}</span>}
            opened={shown.path}
            onClose={() => setParams({ file: undefined })}
          >
            <p class="quiet">
              {counted(shown.uses, 'result')}
              {shown.last === undefined ? null : (
                <>
                  , last <Clock at={shown.last} />
                </>
              )}
            </p>
            <p>
              Tasks:{' '}
              {shown.tasks.map((task, index) => (
                <span key={task}>
                  {index === 0 ? '' : ', '}
                  <a href={sessionHref(session, 'timeline', { task })}>{task}</a>
                </span>
              ))}
            </p>
            <p class="actions">
              <ButtonLink href={sessionHref(session, 'facts', { subject: shown.path, is: 'all' })}>
                Facts about it
              </ButtonLink>
            </p>
            <h3>Changes together with</h3>
            {together(chosen).length === 0 ? <p class="quiet">No other file.</p> : null}
            <ul class="fact-prompts">
              {together(chosen).map(({ path, times }) => (
                <li key={path}>
                  <a class="mono" href={fileHref(session, path)}>
                    {path}
                  </a>{' '}
                  <span class="quiet figure">{counted(times, 'time')}</span>
                </li>
              ))}
            </ul>
          </Panel>
        )}
      </div>
    </div>
  );
}

function fileHref(session: string, file: string | undefined): string {
  return sessionHref(session, 'facts', { tab: 'files', file });
}
