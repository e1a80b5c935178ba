// Trends: a line a key over the scrolls of the window, and the keys with their numbers.
import { useState } from "preact/hooks";
import type { Trend } from "../../gen/scrollery/v1/library_pb";
import { api } from "../api/client";
import { usePages, useQuery } from "../api/query";
import { compact, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { CheckFilter, ChoiceFilter, Filters, InputFilter, filter, numberFilter } from "../ui/filters";
import { Badge, Card, Link, PageHead, type Tone } from "../ui/parts";
import { Empty, Show, ShowPages } from "../ui/states";
import { Lines, type Line } from "../ui/lines";
import { labelOf, sortOf } from "../ui/trend";
import { Byline, Name } from "../ui/video";
import type { PageProps } from "./index";
import { TrendPage } from "./trends-key";

/** Keys whose lines are drawn at first. Each is one more read. */
const drawn = 6;

export function Trends({ rest }: PageProps) {
  const key = rest[0];
  return key ? <TrendPage trendKey={key} /> : <Overview />;
}

const names = ["sort", "minVideos", "minGrowth", "archived"];
const sorts = ["hashtag", "sound", "hook", "opening", "term"];

function Overview() {
  const wanted = {
    kind: filter("sort"), minVideos: Math.round(numberFilter("minVideos") ?? 0) || undefined, minGrowth: numberFilter("minGrowth"),
    includeArchived: filter("archived") === "1" || undefined,
  };
  const [state, setState] = useState({ status: "", scrolls: 0 });
  const list = usePages(async (pageToken, signal) => {
    const page = await api.library.listTrends({ ...wanted, limit: 25, pageToken }, { signal });
    if (!signal.aborted) setState({ status: page.status, scrolls: page.completedScrolls });
    return { items: page.trends, next: page.nextPageToken };
  }, Object.values(wanted), "trends");
  const early = state.status === "insufficient_history";
  const empty = early
    ? <Empty title={t("trends.early")} text={t("trends.earlyText", { n: state.scrolls })}><Link class="button" href={to("scroll")}>{t("scroll.start")}</Link></Empty>
    : <Empty title={t("trends.none")} text={t(names.some((name) => filter(name)) ? "filter.none" : "trends.noneText")} />;
  return (
    <>
      <PageHead title={t("nav.trends")} lead={t("trends.lead")} />
      <Filters names={names}>
        <ChoiceFilter name="sort" label={t("trends.sort")} values={sorts} prefix="trends" />
        <InputFilter name="minVideos" label={t("trends.minVideos")} type="number" />
        <InputFilter name="minGrowth" label={t("trends.minGrowth")} type="number" />
        <CheckFilter name="archived" label={t("trends.archived")} />
      </Filters>
      <ShowPages of={list} lines={8} empty={empty}>
        {(trends) => (
          <>
            <Curves trends={trends.slice(0, drawn)} />
            <ul class="trends">{trends.map((trend, i) => <Row key={trend.key} trend={trend} place={i + 1} />)}</ul>
          </>
        )}
      </ShowPages>
    </>
  );
}

function Curves({ trends }: { trends: Trend[] }) {
  const series = useQuery((signal) => Promise.all(trends.map((trend) => api.library.getTrendSeries({ key: trend.key }, { signal }))), [trends.map((trend) => trend.key).join("\n")]);
  return (
    <Card title={t("trends.plot")}>
      <Show of={series} lines={6}>
        {(all) => {
          const lines = all.map((one, i): Line => ({
            id: one.key, name: labelOf(trends[i] ?? one), points: one.observedAt.map((x, at) => ({ x, y: one.views[at] ?? 0 })),
          }));
          const first = lines[0];
          const summary = t("trends.summary", { n: lines.length, name: first?.name ?? "", from: compact(first?.points[0]?.y ?? 0), to: compact(first?.points.at(-1)?.y ?? 0) });
          return <Lines title={t("trends.plot")} summary={summary} lines={lines} x="time" yTitle={t("trends.views")} height={340} />;
        }}
      </Show>
    </Card>
  );
}

/** Rising is good news; what falls is no trend for long. */
const directions: Record<string, Tone> = { rising: "good", holding: "plain", falling: "warn" };

function Row({ trend, place }: { trend: Trend; place: number }) {
  return (
    <li class="card trend">
      <div class="card-head">
        <h2><span class="muted">{place}</span> <Link href={to("trends", trend.key)}><bdi>{labelOf(trend)}</bdi></Link> <Badge>{sortOf(trend.key)}</Badge></h2>
        <p class="row tight">
          {trend.direction && <Badge tone={directions[trend.direction]}>{word("direction", trend.direction)}</Badge>}
          {trend.newCreators !== undefined && trend.newCreators > 0 && <span class="muted small">{t("trends.newCreators", { n: trend.newCreators })}</span>}
          {trend.metrics && <span class="muted small">{t("trends.videos", { n: trend.metrics.videoCount })} · {t("trends.growth", { times: number(trend.metrics.medianGrowthMultiple, 1) })}</span>}
        </p>
      </div>
      <ul class="carriers">
        {trend.examples.map((video) => <li key={video.id}><Link class="name" href={to("outliers", video.id)}><Name video={video} /></Link><Byline video={video} /></li>)}
      </ul>
    </li>
  );
}
