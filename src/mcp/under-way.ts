/** Tracks the requests of a client that have no answer yet. */
export interface UnderWay {
  /** Takes note of a message from the client. */
  heard(message: unknown): void;
  /** Takes note of a message from the server. */
  said(message: unknown): void;
  /** Resolves when every request is answered, or when `limit` resolves. */
  allAnswered(limit: Promise<unknown>): Promise<void>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | undefined;
}

export function createUnderWay(): UnderWay {
  const open = new Set<unknown>();
  let wake = () => {};
  const end = (id: unknown) => {
    open.delete(id);
    if (open.size === 0) wake();
  };
  return {
    heard(message) {
      const { id, method, params } = message as Message;
      // A cancelled request gets no answer.
      if (method === 'notifications/cancelled') end(params?.requestId);
      // A subscription is answered only when it ends.
      else if (id !== undefined && method !== undefined && method !== 'subscriptions/listen') open.add(id);
    },
    said(message) {
      const { id, method } = message as Message;
      if (id !== undefined && method === undefined) end(id);
    },
    async allAnswered(limit) {
      if (open.size === 0) return;
      const answered = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([answered, limit]);
    },
  };
}
