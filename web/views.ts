import type { ComponentType } from 'preact';

export interface View {
  /** As it stands in the address. */
  readonly name: string;
  readonly title: string;
  /** The paths of its icon, in a box of 16 × 16. */
  readonly icon: string;
  /** Loaded when it is first opened. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** Every view, in the order of the navigation. A new one is a folder in `views/` and an entry here. */
export const VIEWS: readonly View[] = [
  {
    name: 'asked',
    title: 'What was asked',
    icon: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5',
    load: () => import('./views/asked/view.tsx'),
  },
  {
    name: 'recall',
    title: 'Recall',
    icon: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14',
    load: () => import('./views/recall/view.tsx'),
  },
  {
    name: 'memories',
    title: 'Memories',
    icon: 'M2 4h12M2 8h12M2 12h12',
    load: () => import('./views/memories/view.tsx'),
  },
  {
    name: 'conflicts',
    title: 'Conflicts',
    icon: 'M2 5h8M7 2l3 3-3 3M14 11H6M9 8l-3 3 3 3',
    load: () => import('./views/conflicts/view.tsx'),
  },
  {
    name: 'context',
    title: 'Context',
    icon: 'M2 6h12v4H2ZM6 6v4M10 6v4',
    load: () => import('./views/context/view.tsx'),
  },
  {
    name: 'graph',
    title: 'Graph',
    icon: 'M4 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM5 6l.7 4M6 4.4l4 1.2M7.4 10.6l3.2-3.2',
    load: () => import('./views/graph/view.tsx'),
  },
  {
    name: 'life',
    title: 'Life',
    icon: 'M1.5 8.5h3l2-5 3 9 2-4h3',
    load: () => import('./views/life/view.tsx'),
  },
  {
    name: 'time',
    title: 'Time',
    icon: 'M4 2h8M4 14h8M5 2c0 4 6 4 6 6s-6 2-6 6M11 2c0 4-6 4-6 6s6 2 6 6',
    load: () => import('./views/time/view.tsx'),
  },
];
