import { useState } from 'preact/hooks';

/** A command for the terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

/** The command that publishes a first result. */
export function publishCommand(session: string): string {
  return `throughline publish implementer --session ${session} --file result.json`;
}

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    setCopied(
      await navigator.clipboard.writeText(text).then(
        () => 'yes' as const,
        () => 'failed' as const,
      ),
    );
    setTimeout(() => setCopied('no'), 1_500);
  };
  return (
    <button type="button" class="button button-small" onClick={() => void copy()}>
      <span role="status">{{ no: label, yes: 'Copied', failed: 'Not allowed' }[copied]}</span>
    </button>
  );
}
