/** Where an object keeps what makes its later properties. */
const LATER = Symbol('later');

/** How Node and others that keep to its convention print an object. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

interface Later {
  readonly make: Readonly<Record<string, () => unknown>>;
  readonly made: Record<string, unknown>;
}

type WithLater = { readonly [LATER]: Later };

/**
 * Properties of these names whose values are made when they are first read. Whoever copies, writes or prints the object reads them.
 *
 * All objects share one getter a name. One of its own would give every object a shape of its own, which V8 keeps together
 * with everything that the getter holds, until it next looks through all of its memory.
 */
export function laterProperties(names: readonly string[]): PropertyDescriptorMap {
  const getters = names.map((name): [string, PropertyDescriptor] => [
    name,
    {
      enumerable: true,
      get(this: WithLater) {
        const { make, made } = this[LATER];
        if (!(name in made)) made[name] = make[name]!();
        return made[name];
      },
    },
  ]);
  return Object.fromEntries(getters);
}

const PRINTED: PropertyDescriptor = {
  value(this: object) {
    return { ...this };
  },
};

/** Gives an object such properties; returns it. */
export function withLater(object: object, make: Later['make'], properties: PropertyDescriptorMap): object {
  Object.defineProperty(object, LATER, { value: { make, made: {} } satisfies Later });
  Object.defineProperty(object, INSPECT, PRINTED);
  return Object.defineProperties(object, properties);
}
