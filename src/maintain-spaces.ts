import { wholeNumber } from './domain/check.ts';
import { SalienceError, type SalienceErrorCode, throwIfAborted } from './domain/errors.ts';
import type { Instant } from './domain/time.ts';
import type { MaintainOptions, MaintenanceReport } from './engine/upkeep/maintenance-types.ts';
import { checkSwitches } from './engine/verb-options.ts';
import type { Store } from './store/store.ts';

export interface MaintainSpacesOptions extends Omit<MaintainOptions, 'run' | 'progress'> {
  /**
   * The length of a maintenance period in milliseconds; periods are counted from 1970 on. In each period a space is
   * maintained once, by the first process that gets to it. Default is 24 hours. 0 maintains every space now, even if
   * another process has done so.
   */
  readonly every?: number | undefined;
  /** Called before the first space and after each, with the results so far and the number of spaces. */
  readonly progress?: ((soFar: Omit<SpacesMaintenance, 'unreadable'>, total: number) => void) | undefined;
}

/** The result of maintaining the spaces of a store. */
export interface SpacesMaintenance {
  readonly maintained: readonly { readonly space: string; readonly report: MaintenanceReport }[];
  /** Spaces that were skipped, because this or another process has claimed them in this period. */
  readonly left: readonly string[];
  /** Spaces whose maintenance failed. They are tried again in the next period. */
  readonly failed: readonly { readonly space: string; readonly error: unknown }[];
  /** Files of the store whose space cannot be read: one sentence each, with the problem and what to do. */
  readonly unreadable: readonly string[];
}

/** The kind of the shared texts with which processes claim a space for a period. */
const CLAIM = 'maintenance';
/** What a space answers that was deleted before it was opened, or while it was open. */
const GONE: ReadonlySet<SalienceErrorCode> = new Set(['not_found', 'store_replaced']);
const DAY = 24 * 60 * 60 * 1000;

/** See `Spaces.maintain`. `maintain` makes no space that is not there. */
export async function maintainSpaces(
  maintain: (space: string, options: MaintainOptions) => Promise<MaintenanceReport>,
  store: Store,
  now: () => Instant,
  { every = DAY, progress, ...options }: MaintainSpacesOptions,
): Promise<SpacesMaintenance> {
  wholeNumber(every, 'every', 0, 366 * DAY);
  checkSwitches('maintain', { ...options, progress });
  const shared = every === 0 || options.dryRun ? undefined : store.shared;
  const span = every === 0 ? 0 : Math.floor(now() / every);
  const claims = new Set(await shared?.ids(CLAIM));
  const idOf = (space: string) => `${every} ${span} ${space}`;
  const maintained: { space: string; report: MaintenanceReport }[] = [];
  const left: string[] = [];
  const failed: { space: string; error: unknown }[] = [];
  const spaces = await store.listSpaces();
  const tell = () => progress?.({ maintained, left, failed }, spaces.length);
  for (const space of spaces) {
    tell();
    throwIfAborted(options.signal);
    if (shared && (claims.has(idOf(space)) || !(await claim(idOf(space))))) {
      left.push(space);
      continue;
    }
    try {
      maintained.push({ space, report: await maintain(space, options) });
    } catch (error) {
      if (isOver(error)) {
        // Give up the claim: another process, or this one after a restart, can still maintain it in this period.
        await shared?.remove(CLAIM, idOf(space));
        throwIfAborted(options.signal);
        throw error;
      }
      if (await isDeleted(space, error)) await shared?.remove(CLAIM, idOf(space));
      else failed.push({ space, error });
    }
  }
  tell();
  // Remove the claims of past periods of any length.
  for (const id of claims) {
    const [length = 0, at = 0] = id.split(' ', 2).map(Number);
    if (shared && (at + 1) * length <= now()) await shared.remove(CLAIM, id);
  }
  return { maintained, left, failed, unreadable: (await store.copying?.unlisted?.()) ?? [] };

  function isOver(error: unknown): boolean {
    return options.signal?.aborted || (SalienceError.isInstance(error) && error.code === 'closed');
  }

  /** The spaces were listed a while ago. */
  async function isDeleted(space: string, error: unknown): Promise<boolean> {
    const hasGone = SalienceError.isInstance(error) && GONE.has(error.code);
    return hasGone && !(await store.listSpaces()).includes(space);
  }

  async function claim(id: string): Promise<boolean> {
    try {
      await shared?.add(CLAIM, id, '');
      return true;
    } catch (error) {
      if (SalienceError.isInstance(error) && error.code === 'already_exists') return false;
      throw error;
    }
  }
}
