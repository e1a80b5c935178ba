// What a report has, over a range of dates: read from the same lists as the pages.
import type { GetTrendSeriesResponse } from "../../gen/scrollery/v1/library_history_pb";
import type { Hook, Outlier, Trend } from "../../gen/scrollery/v1/library_pb";
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { api } from "../api/client";

/** Unix milliseconds; `until` is the first that is not of the range. */
export type Range = { from: number; until: number };

/** The most of each list. */
const most = 10;
/** The most trends: the series of each costs ten units. */
const mostTrends = 6;
/** Scrolls are read back to the beginning of the range, at most so many pages of 100. */
const pages = 4;

/** A key's creators and views at the first and the last scroll of the range that read it. */
export type Moved = { trend: Trend; creators: [number, number]; views: [number, number] };

export type ReportData = {
  /** Rising first, then holding, then falling; each in the order of the list. */
  trends: Moved[];
  /** Fewer than two scrolls are completed: there are no trends yet. */
  early: boolean;
  outliers: Outlier[];
  hooks: Hook[];
  /** Most first. */
  rules: { rule: string; videos: number }[];
  scrolls: number;
  collected: number;
  dropped: number;
  /** There are older scrolls of the range than were read. */
  cut: boolean;
};

const directions = ["rising", "holding", "falling"];

export async function readReport({ from, until }: Range, signal: AbortSignal): Promise<ReportData> {
  const posted = { postedAfter: from, postedBefore: until, limit: most };
  const [trends, outliers, hooks, scrolls] = await Promise.all([
    api.library.listTrends({ limit: 25 }, { signal }),
    api.library.listOutliers(posted, { signal }),
    api.library.listHooks({ ...posted, order: "score" }, { signal }),
    scrollsOf({ from, until }, signal),
  ]);
  const place = (trend: Trend) => directions.indexOf(trend.direction ?? "");
  const first = [...trends.trends].sort((a, b) => place(a) - place(b)).slice(0, mostTrends);
  const series = await Promise.all(first.map(({ key }) => api.library.getTrendSeries({ key }, { signal })));
  return {
    trends: first.flatMap((trend, i) => moved(trend, series[i], { from, until }) ?? []), early: trends.status === "insufficient_history",
    outliers: outliers.outliers, hooks: hooks.hooks, ...countOf(scrolls.completed), cut: scrolls.cut,
  };
}

/** Undefined where no scroll of the range read the key. */
export function moved(trend: Trend, series: GetTrendSeriesResponse | undefined, { from, until }: Range): Moved | undefined {
  const inside = (series?.observedAt ?? []).flatMap((at, i) => (at >= from && at < until ? [i] : []));
  const [first, last] = [inside[0], inside.at(-1)];
  if (!series || first === undefined || last === undefined) return undefined;
  const pair = (values: number[]): [number, number] => [values[first] ?? 0, values[last] ?? 0];
  return { trend, creators: pair(series.creators), views: pair(series.views) };
}

async function scrollsOf({ from, until }: Range, signal: AbortSignal): Promise<{ completed: Scroll[]; cut: boolean }> {
  const completed: Scroll[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < pages; page++) {
    const answer = await api.scrolls.listScrolls({ pageSize: 100, pageToken }, { signal });
    completed.push(...answer.scrolls.filter(({ status, completedAt = 0 }) => status === "completed" && completedAt >= from && completedAt < until));
    pageToken = answer.nextPageToken;
    const last = answer.scrolls.at(-1);
    if (!pageToken || !last || last.updatedAt < from) return { completed, cut: false };
  }
  return { completed, cut: true };
}

/** What the screens saw and dropped in some scrolls, and by which rules. */
export function countOf(scrolls: Scroll[]): Pick<ReportData, "rules" | "scrolls" | "collected" | "dropped"> {
  const rules = new Map<string, number>();
  let [collected, dropped] = [0, 0];
  for (const { progress } of scrolls) {
    collected += progress?.collected ?? 0;
    dropped += progress?.dropped ?? 0;
    for (const { rule, videos } of progress?.droppedByRule ?? []) rules.set(rule, (rules.get(rule) ?? 0) + videos);
  }
  return { rules: [...rules].map(([rule, videos]) => ({ rule, videos })).sort((a, b) => b.videos - a.videos), scrolls: scrolls.length, collected, dropped };
}
