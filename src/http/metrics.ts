/** Metrics of the server, in the text format of Prometheus. */
export interface Metrics {
  /** Counts the start of a request. Call the returned function when it has ended. */
  begin(): (
    labels: { readonly route: string; readonly method: string; readonly status: number },
    seconds: number,
  ) => void;
  text(gauges: Readonly<Record<string, Gauge>>): string;
}

export interface Gauge {
  readonly help: string;
  readonly value: number;
}

/** Upper bounds of the histogram buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Series {
  count: number;
  sum: number;
  readonly buckets: number[];
}

/**
 * Counts and times requests by route, method and status. All labels are chosen by the server, so that clients cannot
 * create new series. Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  let running = 0;
  return {
    begin() {
      running++;
      return ({ route, method, status }, seconds) => {
        running--;
        const key = `route="${route}",method="${method}",status="${status}"`;
        let found = series.get(key);
        if (!found) {
          found = { count: 0, sum: 0, buckets: BUCKETS.map(() => 0) };
          series.set(key, found);
        }
        found.count++;
        found.sum += seconds;
        const bucket = BUCKETS.findIndex((most) => seconds <= most);
        if (bucket >= 0) (found.buckets[bucket] as number)++;
      };
    },
    text(gauges) {
      const name = 'salience_http_request_duration_seconds';
      const lines = [`# HELP ${name} How long requests took.`, `# TYPE ${name} histogram`];
      for (const [labels, { count, sum, buckets }] of series) {
        let below = 0;
        BUCKETS.forEach((most, index) => {
          below += buckets[index] as number;
          lines.push(`${name}_bucket{${labels},le="${most}"} ${below}`);
        });
        lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`);
        lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`);
      }
      const all = {
        salience_http_requests_running: { help: 'Requests under way.', value: running },
        ...gauges,
      };
      for (const [each, { help, value }] of Object.entries(all)) {
        lines.push(`# HELP ${each} ${help}`, `# TYPE ${each} gauge`, `${each} ${value}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}
