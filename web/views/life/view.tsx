import './life.css';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Administration } from './administration.tsx';
import { Days } from './days.tsx';
import { Feed } from './feed.tsx';
import { Health } from './health.tsx';
import { Maintenance } from './maintenance.tsx';

/** The activity and health of the space, and maintenance. */
export default function LifeView() {
  return (
    <div class="stack life">
      <div class="view-head">
        <h1>Life</h1>
        <CopyAs verb="activity" fields={{ after: 'end', wait: 30_000 }} />
      </div>
      <div class="life-columns">
        <Feed />
        <div class="stack">
          <Days />
          <Maintenance />
          <Health />
          <Administration />
        </div>
      </div>
    </div>
  );
}
