// At most five findings, made by rules from the newest outliers, trends and the newest scroll.
// Each says its arithmetic and leads to its videos. A kind that is "not for me" comes last, in this
// browser. Without a finding, the page says so.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ChangedTrend, SummarizeChangesResponse } from "../../gen/scrollery/v1/changes_service_pb";
import type { Outlier } from "../../gen/scrollery/v1/library_pb";
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { api } from "../api/client";
import { useQuery } from "../api/query";
import { age, compact, date, number } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Button, Card, Link } from "../ui/parts";
import { Save } from "../ui/save";
import { Share } from "../ui/share";
import { Empty, Show } from "../ui/states";
import { labelOf } from "../ui/trend";
import { nameOf } from "../ui/video";
import { Changes, Newest, happened, nameOfChanged } from "./start-since";

const most = 5;
const day = 86_400_000;
/** How far back news reach if no one was here for longer. */
const longest = 49 * day;
const usual = 7 * day;
/** From this share of what came on, what a rule keeps out is news. */
const kept = 0.2;

const kinds = ["record", "several", "rising", "trends", "fell", "rule"] as const;
type Kind = (typeof kinds)[number];

/** `videos` are the ids of those that it rests on, if it rests on videos. */
export type Finding = { id: Kind; text: string; proof: string; videos?: string[]; links: { name: string; address: string }[] };

/** The kinds that the person ranked down, kept in this browser for a workspace. */
function useDown(workspace: string): [Kind[], (next: Kind[]) => void] {
  const name = `scrollery.down.${workspace}`;
  const [down, setDown] = useState(() => {
    const kept = (localStorage.getItem(name) ?? "").split(" ");
    return kinds.filter((kind) => kept.includes(kind));
  });
  return [down, (next) => {
    setDown(next);
    if (next.length > 0) localStorage.setItem(name, next.join(" "));
    else localStorage.removeItem(name);
  }];
}

/** What is shown: kinds that are ranked down come last, so they are the first to find no place. */
export function ranked(findings: Finding[], down: Kind[]): Finding[] {
  return [...findings.filter((one) => !down.includes(one.id)), ...findings.filter((one) => down.includes(one.id))].slice(0, most);
}

/** When the visit before this one was; the tab keeps it, so that a reload shows the same. */
function visited(workspace: string): number | undefined {
  const last = `scrollery.visited.${workspace}`;
  const since = `scrollery.since.visit.${workspace}`;
  const begin = sessionStorage.getItem(since) ?? localStorage.getItem(last) ?? "";
  sessionStorage.setItem(since, begin);
  localStorage.setItem(last, String(Date.now()));
  return Number(begin) || undefined;
}

const linkOf = ({ video }: Outlier) => (video ? [{ name: nameOf(video).slice(0, 100), address: to("outliers", video.id) }] : []);
const idsOf = (outliers: Outlier[]) => outliers.flatMap(({ video }) => (video ? [video.id] : []));
const handleOf = ({ video }: Outlier) => video?.source?.handle?.replace(/^@/, "").slice(0, 80) ?? "";

type News = { fresh: Outlier[]; rising: Outlier[]; changes: SummarizeChangesResponse; scroll: Scroll };

/** All findings of what is new, the most telling first. A number that is unknown makes none. */
export function findingsOf({ fresh, rising, changes, scroll }: News): Finding[] {
  const found: Finding[] = [];
  const sure = fresh.filter((one) => !one.doubtful && one.video?.metrics?.views !== undefined && one.baselineViews !== undefined);
  const best = [...sure].sort((a, b) => b.score - a.score)[0];
  if (best) {
    const [views, baseline] = [best.video?.metrics?.views ?? 0, best.baselineViews ?? 0];
    found.push({
      id: "record", text: t("finding.record", { who: handleOf(best) ? `@${handleOf(best)}` : t("trends.someone"), score: number(best.score, 1) }),
      proof: t("finding.recordProof", { n: best.sampleCount, views: number(views), baseline: number(baseline, 1) }), videos: idsOf([best]), links: linkOf(best),
    });
  }
  const by = new Map<string, Outlier[]>();
  for (const one of sure) if (handleOf(one)) by.set(handleOf(one), [...(by.get(handleOf(one)) ?? []), one]);
  const several = [...by].sort((a, b) => b[1].length - a[1].length)[0];
  if (several && several[1].length > 1) {
    found.push({ id: "several", text: t("finding.several", { who: `@${several[0]}`, n: several[1].length, of: sure.length }), proof: t("finding.severalProof", { scores: several[1].map((one) => `${number(one.score, 1)}×`).join(", ") }), videos: idsOf(several[1]), links: several[1].slice(0, 3).flatMap(linkOf) });
  }
  const next = rising.find((one) => !one.doubtful && one.sevenDayViews !== undefined && one.observedAt !== undefined && one.video?.postedAt !== undefined && one.video.metrics?.views !== undefined);
  if (next) {
    found.push({
      id: "rising", text: t("finding.rising", { who: handleOf(next) ? `@${handleOf(next)}` : t("trends.someone"), views: compact(next.sevenDayViews ?? 0) }),
      proof: t("finding.risingProof", { views: number(next.video?.metrics?.views ?? 0), age: age((next.observedAt ?? 0) - (next.video?.postedAt ?? 0)) }), videos: idsOf([next]), links: linkOf(next),
    });
  }
  if (changes.trendsEntered.length > 0) {
    found.push({ id: "trends", text: t("finding.trends", { n: happened(changes, "trend.entered") }), proof: t("finding.trendsProof", { left: changes.trendsLeft }), links: changes.trendsEntered.slice(0, 3).map((one: ChangedTrend) => ({ name: labelOf(one), address: to("trends", one.key) })) });
  }
  const fell = changes.outliersLeft.filter((one) => one.old !== undefined && one.new !== undefined);
  const first = fell[0];
  if (first) {
    found.push({
      id: "fell", text: t("finding.fell", { n: happened(changes, "outlier.left") }), proof: t("finding.fellProof", { old: number(first.old ?? 0, 1), now: number(first.new ?? 0, 1) }),
      videos: fell.slice(0, 100).map((one) => one.videoId), links: fell.slice(0, 3).map((one) => ({ name: nameOfChanged(one).slice(0, 100), address: to("outliers", one.videoId) })),
    });
  }
  const { progress } = scroll;
  const rule = [...(progress?.droppedByRule ?? [])].sort((a, b) => b.videos - a.videos)[0];
  if (progress && rule && progress.collected > 0 && rule.videos >= kept * progress.collected) {
    found.push({ id: "rule", text: t("finding.rule", { n: rule.videos, of: progress.collected }), proof: rule.rule === "prompt" ? t("drops.prompt") : t("finding.ruleProof", { rule: rule.rule.slice(0, 200) }), links: [{ name: t("drops.edit"), address: to("rules") }, { name: t("start.open"), address: to("scroll", scroll.id) }] });
  }
  return found;
}

/** The findings, the newest scroll and what changed: all by one summary, of the time since the last visit. */
export function News({ workspace, scroll }: { workspace: string; scroll: Scroll }): JSX.Element {
  const [down, setDown] = useDown(workspace);
  const again = useRef<HTMLDivElement>(null);
  const read = useQuery(async (signal) => {
    const last = visited(workspace);
    const since = Math.max(last ?? Date.now() - usual, Date.now() - longest);
    const [fresh, rising, changes] = await Promise.all([
      api.library.listOutliers({ order: "new", since, limit: 25 }, { signal }),
      api.library.listOutliers({ order: "rising", limit: 5 }, { signal }),
      api.changes.summarizeChanges({ since }, { signal }),
    ]);
    return { since: Math.max(since, changes.since), first: last === undefined, changes, findings: findingsOf({ fresh: fresh.outliers, rising: rising.outliers, changes, scroll }) };
  }, [workspace, scroll.id], "news");
  return (
    <>
      <Card title={t("finding.title")}>
        <Show of={read} lines={5}>
          {({ since, findings }) => findings.length === 0 ? <Empty title={t("finding.none")} text={t("finding.noneText", { since: date(since) })} /> : (
            <>
              <p class="muted">{t("finding.since", { since: date(since) })}</p>
              <ol class="findings">
                {ranked(findings, down).map((one) => (
                  <li key={one.id}>
                    <p class="strong"><bdi>{one.text}</bdi></p>
                    <p class="muted"><bdi>{one.proof}</bdi></p>
                    <p class="row tight">{one.links.map((link) => <Link key={link.address} href={link.address}><bdi>{link.name}</bdi></Link>)}</p>
                    <Buttons finding={one} down={down.includes(one.id)} lower={() => {
                      setDown([...down, one.id]);
                      announce(t("finding.downNow", { kind: t(`findingKind.${one.id}`) }));
                      again.current?.focus();
                    }} />
                  </li>
                ))}
              </ol>
              <div class="ranked-down" ref={again} tabIndex={-1} role="group" aria-label={t("finding.down")}>
                {down.length > 0 && (
                  <>
                    <p class="muted">{t("finding.down")}</p>
                    <ul class="row">
                      {down.map((kind) => <li key={kind}><Button kind="quiet" aria-label={t("finding.upNamed", { kind: t(`findingKind.${kind}`) })} onClick={() => { setDown(down.filter((one) => one !== kind)); announce(t("finding.upNow")); again.current?.focus(); }}>{t(`findingKind.${kind}`)} ×</Button></li>)}
                    </ul>
                  </>
                )}
              </div>
            </>
          )}
        </Show>
      </Card>
      <Newest scroll={scroll} />
      {read.data && <Changes changes={read.data.changes} first={read.data.first} />}
    </>
  );
}

/** What can be done with a finding. One without videos has nothing to keep or to share. */
function Buttons({ finding: { id, text, proof, videos }, down, lower }: { finding: Finding; down: boolean; lower: () => void }) {
  const shared = videos && { kind: "finding" as const, title: text, sentences: [text, proof], videoIds: videos };
  return (
    <div class="row tight">
      {videos && <Save videos={videos} name={text} share={shared} />}
      {shared && <Share of={shared} name={text} />}
      {!down && <Button kind="quiet" aria-label={t("finding.notNamed", { kind: t(`findingKind.${id}`) })} onClick={lower}>{t("finding.not")}</Button>}
    </div>
  );
}
