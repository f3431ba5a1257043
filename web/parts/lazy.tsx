import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadPart } from './load.ts';
import { Failure, Loading } from './states.tsx';

/** Returns a component that is loaded when it is first shown, for large modules. */
export function lazy<Props extends object>(
  name: string,
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return (props) => {
    const [, render] = useState(0);
    const [failed, setFailed] = useState<Error>();
    useEffect(() => {
      if (loaded) return;
      loadPart(name, load).then((module) => {
        loaded = module.default;
        render(1);
      }, setFailed);
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    return failed ? <Failure error={failed} retry={() => location.reload()} /> : <Loading />;
  };
}
