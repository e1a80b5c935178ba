// What changed since the last visit, by its names where it has some.
import { useState } from "preact/hooks";
import type { ChangedVideo, SummarizeChangesResponse } from "../../gen/scrollery/v1/changes_service_pb";
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { compact, number, relative } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Button, Card, Link } from "../ui/parts";
import { Empty } from "../ui/states";
import { labelOf } from "../ui/trend";
import { PoorResult, StatusBadge } from "./scroll-parts";

const shownAtFirst = 10;

/** What is counted above the list, and the page that shows it. */
const counted = {
  "video.added": to("library"), "outlier.entered": `${to("outliers")}?order=new`, "trend.entered": to("trends"), "hook.changed": to("hooks"),
} as const;

/** The kinds that have no line: they are counted above, or a scroll makes thousands of them. */
const unlisted: string[] = [...Object.keys(counted), "video.reobserved", "scroll.stage"];

export function Newest({ scroll }: { scroll: Scroll }) {
  return (
    <Card title={t("start.newest")} aside={<Link href={to("scroll", scroll.id)}>{t("start.open")}</Link>}>
      <p><StatusBadge scroll={scroll} /> {scroll.resultCounts ? t("start.newestText", { n: scroll.resultCounts.videos, when: relative(scroll.completedAt ?? scroll.updatedAt) }) : relative(scroll.updatedAt)}</p>
      <PoorResult scroll={scroll} />
    </Card>
  );
}

type Line = { id: string; name: string; address: string; badge: string; tone?: "info" };

/** How often a kind of change happened. One that did not is not in the counts. */
export const happened = ({ counts }: SummarizeChangesResponse, type: string) => counts.find((one) => one.type === type)?.count ?? 0;

/** What a video of a summary is called. */
export const nameOfChanged = (one: ChangedVideo) => (one.caption || (one.handle ? `@${one.handle.replace(/^@/, "")}` : t("trends.someone"))).slice(0, 120);

/** Where the changes of a kind can be seen. */
function pageOf(type: string): string {
  switch (type.slice(0, type.indexOf("."))) {
    case "video": return to("library");
    case "outlier": return to("outliers");
    case "trend": return to("trends");
    case "scroll": return to("scroll");
    case "rules": return to("rules");
    case "workspace": return to("brief");
    default: return to("account");
  }
}

function linesOf({ outliersEntered, gained, trendsEntered, counts }: SummarizeChangesResponse): Line[] {
  const entered = new Set(outliersEntered.map(({ videoId }) => videoId));
  return [
    ...outliersEntered.map((one): Line => ({ id: one.videoId, name: nameOfChanged(one), address: to("outliers", one.videoId), badge: one.new === undefined ? "" : t("start.score", { score: number(one.new, 1) }), tone: "info" })),
    ...trendsEntered.map((one): Line => ({ id: one.key, name: labelOf(one), address: to("trends", one.key), badge: t("start.trend") })),
    ...gained.filter(({ videoId }) => !entered.has(videoId)).flatMap((one): Line[] => (one.old === undefined || one.new === undefined ? [] : [{ id: one.videoId, name: nameOfChanged(one), address: to("library", one.videoId), badge: t("start.gained", { views: compact(one.new - one.old) }) }])),
    ...counts.filter(({ type }) => !unlisted.includes(type)).map(({ type, count }): Line => ({ id: type, name: word("change", type), address: pageOf(type), badge: count > 1 ? t("start.times", { n: count }) : "" })),
  ];
}

export function Changes({ changes, first }: { changes: SummarizeChangesResponse; first: boolean }) {
  const [all, setAll] = useState(false);
  const lines = linesOf(changes);
  return (
    <Card title={t(first ? "start.sinceFirst" : "start.since")}>
      {changes.counts.length === 0 ? <Empty title={t("start.nothing")} text={t("start.nothingText")} /> : (
        <>
          <dl class="figures">
            {(Object.keys(counted) as (keyof typeof counted)[]).map((type) => (
              <div key={type}><dt><Link href={counted[type]}>{t(`start.count.${type}`)}</Link></dt><dd class="figure">{number(happened(changes, type))}</dd></div>
            ))}
          </dl>
          <ol class="timeline">
            {lines.slice(0, all ? lines.length : shownAtFirst).map((one) => (
              <li key={one.id}><Link class="name" href={one.address}><bdi class="quote" data-lines={1}>{one.name}</bdi></Link>{one.badge && <Badge tone={one.tone}>{one.badge}</Badge>}</li>
            ))}
          </ol>
          {!all && lines.length > shownAtFirst && <Button onClick={() => setAll(true)}>{t("start.all", { n: lines.length })}</Button>}
        </>
      )}
    </Card>
  );
}
