/** Where an object stores the functions and values of its lazy properties. */
const LATER = Symbol('later');

/** The hook of Node.js, and of others with its convention, for printing an object. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

interface Later {
  readonly make: Readonly<Record<string, () => unknown>>;
  readonly made: Record<string, unknown>;
}

type WithLater = { readonly [LATER]: Later };

/**
 * Returns descriptors of lazy properties, whose values are computed on first access. Copying, serialising or printing
 * the object accesses them.
 *
 * All objects share one getter per name. Getters of their own would give every object its own hidden class, which V8
 * keeps, with everything that the getter holds, until the next full garbage collection.
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

/** Adds lazy properties to an object and returns it. */
export function withLater(object: object, make: Later['make'], properties: PropertyDescriptorMap): object {
  Object.defineProperty(object, LATER, { value: { make, made: {} } satisfies Later });
  Object.defineProperty(object, INSPECT, PRINTED);
  return Object.defineProperties(object, properties);
}
