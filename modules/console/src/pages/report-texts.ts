// A report in sentences, for its public page, and as rows of a file.
import type { Hook, Outlier } from "../../gen/scrollery/v1/library_pb";
import { number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { nameOf, textOf } from "../ui/video";
import { rowsOf } from "./library-csv";
import type { Moved, ReportData } from "./report-read";
import { labelOf } from "../ui/trend";

/** The most rules that the public page names. */
const most = 10;

export const openingOf = (hook: Hook) => (hook.hookText || hook.spoken || hook.onScreenText || "").slice(0, 400);
export const ruleOf = (rule: string) => (rule === "prompt" ? t("drops.prompt") : t("finding.ruleProof", { rule: rule.slice(0, 400) }));
export const directionOf = ({ trend }: Moved) => word("direction", trend.direction ?? "");
export const movedText = ({ creators, views }: Moved) => t("report.moved", { creators: number(creators[0]), now: number(creators[1]), views: number(views[0]), viewsNow: number(views[1]) });
export const keptText = ({ scrolls, collected, dropped }: ReportData) => t("report.kept", { n: scrolls, collected: number(collected), dropped: number(dropped) });
const handleOf = (handle: string | undefined) => (handle ? `@${handle.replace(/^@/, "").slice(0, 80)}` : t("trends.someone"));

/** What others read of the report, beside its videos. */
export function sentencesOf(data: ReportData, range: string): string[] {
  return [
    range,
    ...(data.trends.length === 0 ? [t("report.noTrends")] : data.trends.map((one) => t("report.trend", { label: labelOf(one.trend).slice(0, 200), direction: directionOf(one), n: one.trend.metrics?.videoCount ?? 0, moved: movedText(one) }))),
    data.outliers.length === 0 ? t("report.noOutliers") : t("report.outliers", { n: data.outliers.length }),
    ...data.hooks.filter(openingOf).map((hook) => t("report.hook", { text: openingOf(hook), who: handleOf(hook.video?.source?.handle), score: number(hook.score ?? 0, 1) })),
    keptText(data),
    ...data.rules.slice(0, most).map(({ rule, videos }) => t("report.rule", { rule: ruleOf(rule), n: videos })),
  ].map((text) => text.slice(0, 1000));
}

/** The videos that the sentences rest on: the outliers first, then those of the hooks and one of each trend. */
export function restsOn(data: ReportData): string[] {
  return [...new Set([...data.outliers, ...data.hooks, ...data.trends.map(({ trend }) => ({ video: trend.examples[0] }))].flatMap(({ video }) => (video ? [video.id] : [])))];
}

/** The report as a file for spreadsheets: a row for each thing, its kind first. */
export function csvOfReport(data: ReportData, client: string, range: { from: string; to: string }): string {
  const about = [client, range.from, range.to];
  const head = ["client", "from", "to", "section", "place", "name", "direction", "videos", "creators_first", "creators_last", "views_first", "views_last", "score", "baseline_views", "platform", "handle", "posted_at", "text", "source_url"];
  const ofVideo = ({ video }: Outlier | Hook) => [video?.platform, video?.source?.handle, video?.postedAt === undefined ? undefined : new Date(video.postedAt).toISOString()];
  const none = (n: number) => Array<undefined>(n).fill(undefined);
  return rowsOf([
    head,
    ...data.trends.map((one, i) => [...about, "trend", i + 1, labelOf(one.trend), one.trend.direction, one.trend.metrics?.videoCount, ...one.creators, ...one.views, ...none(7)]),
    ...data.outliers.map((one, i) => [...about, "outlier", i + 1, one.video && nameOf(one.video), ...none(5), one.video?.metrics?.views, one.score, one.baselineViews, ...ofVideo(one), textOf(one.video?.metadata, "caption"), one.video?.sourceUrl]),
    ...data.hooks.map((one, i) => [...about, "hook", i + 1, one.video && nameOf(one.video), ...none(5), one.video?.metrics?.views, one.score, one.baselineViews, ...ofVideo(one), openingOf(one), one.video?.sourceUrl]),
    ...data.rules.map(({ rule, videos }, i) => [...about, "rule", i + 1, ruleOf(rule), undefined, videos, ...none(11)]),
  ]);
}
