/** The requests of a client that have no answer yet. */
export interface UnderWay {
  /** A message of the client. */
  heard(message: unknown): void;
  /** A message of the server. */
  said(message: unknown): void;
  /** Resolves when every request is answered, or when `limit` does. */
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
      // What was cancelled gets no answer.
      if (method === 'notifications/cancelled') end(params?.requestId);
      // A subscription is answered when it ends: there is nothing to wait for.
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
