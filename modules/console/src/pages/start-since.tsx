// What changed since the last visit, from the change feed.
import { useState } from "preact/hooks";
import type { Change } from "../../gen/scrollery/v1/changes_service_pb";
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { api } from "../api/client";
import { problemOf } from "../api/problem";
import { useQuery } from "../api/query";
import { dateTime, number, relative } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Button, Card, Link } from "../ui/parts";
import { Empty, Show } from "../ui/states";
import { PoorResult, StatusBadge } from "./scroll-parts";

const pageSize = 500;
const mostPages = 4;
const shownAtFirst = 10;

/** The kinds that are counted and not listed one by one: a scroll makes thousands of them. */
const countedOnly = ["video.added", "video.reobserved", "scroll.stage", "hook.changed"];

type News = { changes: Change[]; cut: boolean; first: boolean };

/**
 * The cursor at which this visit began. It stays for the tab, so that a reload shows the
 * same changes; the next visit begins where this one has read to.
 */
function visit(workspace: string) {
  const seen = `scrollery.seen.${workspace}`;
  const since = `scrollery.since.${workspace}`;
  const begin = sessionStorage.getItem(since) ?? localStorage.getItem(seen) ?? "";
  sessionStorage.setItem(since, begin);
  return {
    begin,
    read: (cursor: string) => localStorage.setItem(seen, cursor),
    forget: () => { sessionStorage.removeItem(since); localStorage.removeItem(seen); },
  };
}

async function news(workspace: string, signal: AbortSignal): Promise<News> {
  const { begin, read, forget } = visit(workspace);
  const changes: Change[] = [];
  let cursor = begin;
  for (let page = 0; page < mostPages; page++) {
    try {
      const answer = await api.changes.listChanges({ pageSize, pageToken: cursor || undefined }, { signal });
      changes.push(...answer.changes);
      cursor = answer.nextPageToken;
      if (!answer.more) {
        read(cursor);
        return { changes: changes.reverse(), cut: false, first: begin === "" };
      }
    } catch (error) {
      if (problemOf(error).kind !== "cursor_expired" || !cursor) throw error;
      forget();
      cursor = "";
    }
  }
  read(cursor);
  return { changes: changes.reverse(), cut: true, first: begin === "" };
}

export function Since({ workspace, newest }: { workspace: string; newest: Scroll }) {
  const state = useQuery((signal) => news(workspace, signal), [workspace]);
  return (
    <>
      <Card title={t("start.newest")} aside={<Link href={to("scroll", newest.id)}>{t("start.open")}</Link>}>
        <p><StatusBadge scroll={newest} /> {newest.resultCounts ? t("start.newestText", { n: newest.resultCounts.videos, when: relative(newest.completedAt ?? newest.updatedAt) }) : relative(newest.updatedAt)}</p>
        <PoorResult scroll={newest} />
      </Card>
      <Show of={state}>{(read) => <Changes {...read} />}</Show>
    </>
  );
}

function Changes({ changes, cut, first }: News) {
  const [all, setAll] = useState(false);
  const count = (type: string) => changes.filter((change) => change.type === type).length;
  const listed = grouped(changes.filter((change) => !countedOnly.includes(change.type)));
  const shown = all ? listed : listed.slice(0, shownAtFirst);
  return (
    <Card title={t(first ? "start.sinceFirst" : "start.since")}>
      {changes.length === 0 ? <Empty title={t("start.nothing")} text={t("start.nothingText")} /> : (
        <>
          <dl class="figures">
            {(["video.added", "outlier.entered", "trend.entered", "hook.changed"] as const).map((type) => (
              <div key={type}><dt>{t(`start.count.${type}`)}</dt><dd class="figure">{number(count(type))}{cut && "+"}</dd></div>
            ))}
          </dl>
          <ol class="timeline">
            {shown.map(({ change, times }) => <li key={change.id}><ChangeLine change={change} times={times} /></li>)}
          </ol>
          {!all && listed.length > shownAtFirst && <Button onClick={() => setAll(true)}>{t("start.all", { n: listed.length })}</Button>}
        </>
      )}
    </Card>
  );
}

/** Changes of one kind in a row are one line, but for outliers, which have a score. */
function grouped(changes: Change[]): { change: Change; times: number }[] {
  const lines: { change: Change; times: number }[] = [];
  for (const change of changes) {
    const last = lines.at(-1);
    if (last && last.change.type === change.type && change.type !== "outlier.entered") last.times++;
    else lines.push({ change, times: 1 });
  }
  return lines;
}

function ChangeLine({ change, times }: { change: Change; times: number }) {
  const name = word("change", change.type);
  const address = change.type.startsWith("outlier.") && change.videoId ? to("outliers", change.videoId)
    : change.videoId ? to("library", change.videoId)
    : change.scrollId ? to("scroll", change.scrollId)
    : change.type.startsWith("trend.") ? to("trends")
    : change.type.startsWith("rules.") ? to("rules")
    : change.type.startsWith("key.") || change.type.startsWith("subscription.") ? to("account")
    : "";
  return (
    <>
      <span>{address ? <Link href={address}>{name}</Link> : name} {change.type === "outlier.entered" && change.new !== undefined && <Badge tone="info">{t("start.score", { score: number(change.new, 1) })}</Badge>}{times > 1 && <Badge>{t("start.times", { n: times })}</Badge>}</span>
      <time dateTime={new Date(change.at).toISOString()} title={dateTime(change.at)}>{relative(change.at)}</time>
    </>
  );
}
