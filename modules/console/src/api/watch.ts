// Following a scroll: a stream while it holds, reads in between where it breaks.
import { useEffect, useState } from "preact/hooks";
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { api, sleep } from "./client";
import { problemOf, type Problem } from "./problem";

const pause = 2000;

export type Watched = {
  scroll: Scroll | undefined;
  missing: boolean;
  problem: Problem | undefined;
  /** How the newest state came: `stream`, or `poll` while no stream can be had. */
  by: "stream" | "poll";
  /** Reads again, after a change that the person made. */
  reload: () => void;
};

export function ended(scroll: Scroll): boolean {
  return ["completed", "failed", "cancelled"].includes(scroll.status);
}

/** The scroll as it is now, until it has ended. */
export function useScroll(id: string): Watched {
  const [state, setState] = useState<Omit<Watched, "reload">>({ scroll: undefined, missing: false, problem: undefined, by: "stream" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const show = (scroll: Scroll, by: Watched["by"]) => setState({ scroll, missing: false, problem: undefined, by });
    void follow(id, stop.signal, show).then(
      (found) => !stop.signal.aborted && !found && setState((before) => ({ ...before, missing: true })),
      (error) => !stop.signal.aborted && setState((before) => ({ ...before, problem: problemOf(error) })),
    );
    return () => stop.abort();
  }, [id, turn]);
  return { ...state, reload: () => setTurn((n) => n + 1) };
}

/** Resolves when the scroll has ended, with whether there is one. */
async function follow(id: string, signal: AbortSignal, show: (scroll: Scroll, by: Watched["by"]) => void): Promise<boolean> {
  for (;;) {
    // The read goes through every recovery: network, rate, key. A stream cannot be repeated.
    const { found, scroll } = await api.scrolls.getScroll({ id }, { signal });
    if (!found || !scroll) return false;
    show(scroll, "poll");
    if (ended(scroll)) return true;
    try {
      for await (const { scroll: next } of api.scrolls.watchScroll({ id }, { signal })) {
        if (!next) continue;
        show(next, "stream");
        if (ended(next)) return true;
      }
    } catch (error) {
      if (signal.aborted) throw error;
    }
    await sleep(pause, signal);
  }
}
