// Parts of the console whose script is loaded after the first page: when they are first shown, or
// before that, when nothing else is to be done.
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../api/problem";
import { t, type Key } from "../i18n/t";
import { PageHead } from "./parts";
import { Loading, ProblemView } from "./states";

export type Lazy<P extends object> = FunctionComponent<P> & {
  /** Loads the script; resolves once the part can be shown at once. It never rejects. */
  prepare: () => Promise<void>;
};

const all: (() => Promise<void>)[] = [];

const problem: Problem = { kind: "script", message: "", issues: [], retryAfter: 0, requiredScope: "", grantedScopes: [] };

type Place = {
  /** The heading of a page, until the page has one. */
  title?: Key;
  /** How much stands in its place while the script is loaded. */
  lines?: number;
};

/** A part by its script. */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>, { title, lines }: Place = {}): Lazy<P> {
  let View: FunctionComponent<P> | undefined;
  const prepare = async () => {
    try {
      View ??= await load();
    } catch {
      // It is tried again when the part is shown, which says what went wrong.
    }
  };
  all.push(prepare);
  function Loaded(props: P) {
    const [turns, setTurns] = useState(0);
    const show = async () => {
      await prepare();
      setTurns((n) => n + 1);
    };
    const retry = async () => {
      await show();
      // A server of another version has other scripts, and a new document names them.
      if (!View && (await answers())) location.reload();
    };
    useEffect(() => {
      if (View) return;
      void show();
      const again = () => void show();
      window.addEventListener("online", again);
      return () => window.removeEventListener("online", again);
    }, []);
    if (View) return <View {...props} />;
    return (
      <>
        {title && <PageHead title={t(title)} />}
        {turns > 0 ? <ProblemView problem={problem} retry={() => void retry()} /> : <Loading lines={lines} />}
      </>
    );
  }
  return Object.assign(Loaded, { prepare });
}

/** Whether the server answers; what was typed stays where it does not. */
export async function answers(): Promise<boolean> {
  try {
    return (await fetch(location.pathname, { method: "HEAD", credentials: "omit" })).ok;
  } catch {
    return false;
  }
}

/** Loads the scripts of all parts, one after the other, so that they show at once and without a network. */
export async function prepareAll(): Promise<void> {
  for (const prepare of all) await prepare();
}

/** Resolves a moment after the page is there, when the browser has nothing else to do. */
export function idle(): Promise<void> {
  return new Promise((done) => setTimeout(() => ("requestIdleCallback" in window ? requestIdleCallback(() => done(), { timeout: 5000 }) : done()), 1000));
}
