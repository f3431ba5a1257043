import { currentRoute, go } from '../router.ts';
import { enterSpace, session } from '../session.ts';
import { BusyButton } from './busy-button.tsx';
import { useOnce } from './once.ts';
import { tellFailure } from './toast.tsx';

/** Goes to another space: to what a link to it leads to, else to the view that is shown. */
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
  // Whoever has gone elsewhere meanwhile stays there.
  const isMeant = () => {
    const now = currentRoute();
    return press === presses && session.get() === from && now.view === view && now.rest === rest;
  };
  const entered = await enterSpace(space, isMeant);
  if (entered && currentRoute().params.get('space') !== space) go(view);
}
