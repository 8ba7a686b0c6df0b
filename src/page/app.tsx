import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AskError, unauthorized } from './ask.js';
import { Find } from './components/find.js';
import { PageHead, PageHeader } from './components/page-header.js';
import { Banner, Empty, ErrorBox } from './components/states.js';
import { useKeys } from './keys.js';
import { type PageRoute, route, viewHref } from './route.js';
import { LearningsView } from './views/learnings-view.js';
import { PromptView } from './views/prompt-view.js';
import { SessionView } from './views/session-view.js';
import { SessionsView } from './views/sessions-view.js';
import { TimelineView } from './views/timeline-view.js';
import { COMMANDS } from './words.js';

export function App() {
  const [finding, setFinding] = useState(false);
  const main = useRef<HTMLElement>(null);
  const at = route.value;
  useKeys([{ keys: ['Ctrl+k'], run: () => setFinding(true) }]);
  const place = `${at.view} ${at.session ?? ''}`;
  const before = useRef(place);
  // Focuses the heading of a new view, so that screen readers start there.
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [place]);
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <PageHeader onFind={() => setFinding(true)} />
      <Banner />
      <main id="main" ref={main} tabIndex={-1} class="main">
        {unauthorized.value ? (
          <Empty title="This browser has no valid token" command={COMMANDS.openPage()} />
        ) : (
          <Guarded key={place}>
            <View at={at} />
          </Guarded>
        )}
      </main>
      {finding ? <Find onClose={() => setFinding(false)} /> : null}
    </>
  );
}

function View({ at }: { readonly at: PageRoute }) {
  switch (at.view) {
    case 'sessions':
      return <SessionsView params={at.params} />;
    case 'learnings':
      return <LearningsView params={at.params} />;
    case 'session':
      return <SessionView session={at.session} params={at.params} />;
    case 'timeline':
      return <TimelineView session={at.session} params={at.params} />;
    case 'prompt':
      return <PromptView session={at.session} params={at.params} />;
    case 'nowhere':
      return (
        <>
          <PageHead title="No such page" />
          <Empty title="Nothing has this address">
            <p>
              Start at <a href={viewHref('sessions')}>the sessions</a>.
            </p>
            <p>A session name has 1 to 64 characters of A-Z a-z 0-9 _ and -.</p>
          </Empty>
        </>
      );
  }
}

/** Keeps the rest of the page usable when one view throws. */
class Guarded extends Component<{ readonly children?: ComponentChildren }, { readonly fault?: unknown }> {
  static override getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override componentDidCatch(fault: unknown): void {
    console.error(fault);
  }

  override render() {
    if (this.state.fault === undefined) return this.props.children;
    const error = new AskError('view_failed', `This view failed: ${String(this.state.fault)}`);
    return <ErrorBox error={error} retry={() => location.reload()} />;
  }
}
