/**
 * Creates a heap that keeps the k highest values offered. `value` returns the lowest of them, −Infinity until there are
 * k.
 */
export function createThreshold(k: number): { offer(value: number): void; value(): number } {
  const heap: number[] = [];
  return {
    value: () => (heap.length < k ? -Infinity : heap[0]!),
    offer(value) {
      if (heap.length < k) {
        heap.push(value);
        let at = heap.length - 1;
        while (at > 0) {
          const parent = (at - 1) >> 1;
          if (heap[parent]! <= heap[at]!) break;
          [heap[parent], heap[at]] = [heap[at]!, heap[parent]!];
          at = parent;
        }
        return;
      }
      if (value <= heap[0]!) return;
      heap[0] = value;
      for (let at = 0; ; ) {
        const left = 2 * at + 1;
        if (left >= k) break;
        const child = left + 1 < k && heap[left + 1]! < heap[left]! ? left + 1 : left;
        if (heap[at]! <= heap[child]!) break;
        [heap[at], heap[child]] = [heap[child]!, heap[at]!];
        at = child;
      }
    },
  };
}
