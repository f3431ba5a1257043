import { useState } from 'preact/hooks';
import { go, useRoute } from '../router.ts';
import { enterSpace } from '../session.ts';
import { tellFailure } from './toast.tsx';

/** Goes to another space, in the view that is shown. */
export function GoThere({ space }: { readonly space: string }) {
  const [busy, setBusy] = useState(false);
  const { view } = useRoute();
  const enter = () => {
    setBusy(true);
    enterSpace(space)
      .then(() => go(view), tellFailure)
      .finally(() => setBusy(false));
  };
  return (
    <button
      type="button"
      class="small"
      disabled={busy}
      onClick={enter}
      aria-label={`Go to the space ${space}`}
    >
      Go there
    </button>
  );
}
