// A page whose script is loaded when it is first opened.
import type { FunctionComponent } from "preact";
import { useQuery } from "../api/query";
import { Show } from "./states";

export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  let loaded: FunctionComponent<P> | undefined;
  return function Loaded(props: P) {
    const script = useQuery(async () => ({ View: (loaded ??= await load()) }), []);
    return <Show of={loaded ? { ...script, data: { View: loaded } } : script}>{({ View }) => <View {...props} />}</Show>;
  };
}
