// Reading for pages: a value, or a list that grows by pages.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { problemOf, type Problem } from "./problem";

export type Query<T> = {
  /** The newest answer; it stays while it is read again. */
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
};

/** Reads when the page is shown and whenever `inputs` change. A read that is no longer wanted is aborted. */
export function useQuery<T>(read: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Query<T> {
  const [state, setState] = useState<{ data?: T; problem?: Problem; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ data: before.data, loading: true }));
    read(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data, loading: false }),
      (error) => !stop.signal.aborted && setState((before) => ({ data: before.data, problem: problemOf(error), loading: false })),
    );
    return () => stop.abort();
  }, [...inputs, turn]);
  return { data: state.data, problem: state.problem, loading: state.loading, reload: useCallback(() => setTurn((n) => n + 1), []) };
}

export type Page<T> = { items: T[]; next: string | undefined };

export type Pages<T> = Query<T[]> & {
  /** There is more; `more` reads it. */
  unfinished: boolean;
  more: () => void;
};

/** Reads a list page by page: one page at first, another with each `more`. */
export function usePages<T>(read: (token: string | undefined, signal: AbortSignal) => Promise<Page<T>>, inputs: unknown[]): Pages<T> {
  const [items, setItems] = useState<T[]>([]);
  const [token, setToken] = useState<string | undefined>(undefined);
  const following = useRef<AbortController | null>(null);
  const [adding, setAdding] = useState(false);
  const [late, setLate] = useState<Problem | undefined>(undefined);
  const first = useQuery(async (signal) => {
    following.current?.abort();
    const page = await read(undefined, signal);
    if (!signal.aborted) {
      setItems(page.items);
      setToken(page.next || undefined);
      setLate(undefined);
    }
    return page;
  }, inputs);
  const more = () => {
    if (!token || adding) return;
    const stop = new AbortController();
    following.current = stop;
    setAdding(true);
    read(token, stop.signal)
      .then(
        (page) => {
          if (stop.signal.aborted) return;
          setItems((before) => [...before, ...page.items]);
          setToken(page.next || undefined);
          setLate(undefined);
        },
        (error) => !stop.signal.aborted && setLate(problemOf(error)),
      )
      .finally(() => setAdding(false));
  };
  useEffect(() => () => following.current?.abort(), []);
  return {
    data: first.data ? items : undefined,
    problem: first.problem ?? late,
    loading: first.loading || adding,
    reload: first.reload,
    unfinished: token !== undefined,
    more,
  };
}

export type Action<A extends unknown[]> = {
  run: (...args: A) => Promise<boolean>;
  busy: boolean;
  problem: Problem | undefined;
  clear: () => void;
};

/** A write that a person starts. `run` resolves with whether it succeeded; twice at a time is once. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const running = useRef(false);
  const run = async (...args: A) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      await act(...args);
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { run, busy, problem, clear: () => setProblem(undefined) };
}
