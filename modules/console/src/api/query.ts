// Reading for pages: a value, or a list that grows by pages.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { returned, step } from "../shell/router";
import { problemOf, type Problem } from "./problem";
import { session } from "./session";

export type Query<T> = {
  /** The newest answer; it stays while it is read again. */
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
};

/** What pages had when they were left. A step back shows it at once, and reads it again. */
const kept = new Map<string, unknown>();
const mostKept = 30;

/** What this step of the history had under a name, if it is come back to. What `newest` has in the end is kept for the next time. */
function useKept<T>(name: string, newest: { current: T | undefined }): T | undefined {
  const [place] = useState(() => `${session.value?.keyId} ${step()} ${name}`);
  const [had] = useState(() => (name && returned() ? (kept.get(place) as T | undefined) : undefined));
  useEffect(() => () => {
    if (!name || newest.current === undefined) return;
    kept.delete(place);
    kept.set(place, newest.current);
    for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest);
  }, []);
  return had;
}

/**
 * Reads when the page is shown and whenever `inputs` change. A read that is no longer wanted is aborted. With a name, a
 * step back begins with the last answer.
 */
export function useQuery<T>(read: (signal: AbortSignal) => Promise<T>, inputs: unknown[], name = ""): Query<T> {
  const answered = useRef<T | undefined>(undefined);
  const had = useKept(name, answered);
  const [state, setState] = useState<{ data?: T | undefined; problem?: Problem; loading: boolean }>({ data: had, loading: true });
  answered.current = state.data;
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

/** Reads a list page by page: one page at first, another with each `more`. With a name, a step back has as many as before, as `reload` has. */
export function usePages<T>(read: (token: string | undefined, signal: AbortSignal) => Promise<Page<T>>, inputs: unknown[], name = ""): Pages<T> {
  const shown = useRef<T[] | undefined>(undefined);
  const had = useKept(name, shown);
  const again = useRef(had?.length ?? 0);
  const [items, setItems] = useState<T[]>(had ?? []);
  const [token, setToken] = useState<string | undefined>(undefined);
  const following = useRef<AbortController | null>(null);
  const [adding, setAdding] = useState(false);
  const [late, setLate] = useState<Problem | undefined>(undefined);
  const first = useQuery(async (signal) => {
    following.current?.abort();
    const wanted = again.current;
    again.current = 0;
    let page = await read(undefined, signal);
    let all = page.items;
    while (all.length < wanted && page.next) {
      page = await read(page.next, signal);
      all = [...all, ...page.items];
    }
    if (!signal.aborted) {
      setItems(all);
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
  const data = first.data || had ? items : undefined;
  shown.current = data;
  return {
    data,
    problem: first.problem ?? late,
    loading: first.loading || adding,
    reload: () => {
      again.current = items.length;
      first.reload();
    },
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
