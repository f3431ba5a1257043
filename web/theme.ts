import { cell } from './cell.ts';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'salience-inspector-theme';

export const theme = cell<Theme>(readTheme());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.get();
}

// On paper, the light theme.
addEventListener('beforeprint', () => {
  document.documentElement.dataset['theme'] = 'light';
});
addEventListener('afterprint', applyTheme);

/** From the system's choice to light, to dark, and back. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] as Theme;
  theme.set(next);
  localStorage.setItem(STORED, next);
  applyTheme();
}

function readTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((each) => each === stored) ?? 'system';
}
