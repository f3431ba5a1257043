import { currentRoute, go } from '../router.ts';
import { enterSpace, session } from '../session.ts';
import { BusyButton } from './busy-button.tsx';
import { useOnce } from './once.ts';
import { tellFailure } from './toast.tsx';

/** A button to another space: to the target of the link that was followed, else to the current view. */
export function GoThere({ space }: { readonly space: string }) {
  const [enter, entering] = useOnce(() => goThere(space).catch(tellFailure));
  return (
    <BusyButton
      busy={entering !== undefined}
      class="small"
      onClick={() => enter()}
      aria-label={`Go to the space ${space}`}
    >
      Go there
    </BusyButton>
  );
}

/** Counts presses: the newest wins. */
let presses = 0;

async function goThere(space: string): Promise<void> {
  const press = ++presses;
  const from = session.get();
  const { view, rest } = currentRoute();
  // If the user has navigated elsewhere meanwhile, the page stays there.
  const isMeant = () => {
    const now = currentRoute();
    return press === presses && session.get() === from && now.view === view && now.rest === rest;
  };
  const entered = await enterSpace(space, isMeant);
  if (entered && currentRoute().params.get('space') !== space) go(view);
}
