// One trend key: its line, the videos that carry it, and why it is listed or is not.
import type { TrendExplanation, TrendVideo } from "../../gen/scrollery/v1/library_explain_pb";
import type { GetTrendSeriesResponse } from "../../gen/scrollery/v1/library_history_pb";
import { api } from "../api/client";
import { useQuery } from "../api/query";
import { age, compact, date, dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Lines } from "../ui/lines";
import { Back, Badge, Card, Link, PageHead } from "../ui/parts";
import { Empty, Show } from "../ui/states";
import { Long } from "../ui/twin";
import { nameless } from "../ui/video";
import { labelOf, sortOf } from "../ui/trend";

export function TrendPage({ trendKey }: { trendKey: string }) {
  const found = useQuery(async (signal) => {
    const [series, explained] = await Promise.all([api.library.getTrendSeries({ key: trendKey }, { signal }), api.library.explainTrend({ key: trendKey }, { signal })]);
    return { series, explanation: explained.explanation };
  }, [trendKey]);
  return (
    <>
      <Back href={to("trends")}>{t("nav.trends")}</Back>
      <Show of={found} lines={8}>
        {({ series, explanation }) => explanation
          ? <Found series={series} explanation={explanation} />
          : <><PageHead title={trendKey} /><Empty title={t("trends.missing")} text={t("trends.missingText")} /></>}
      </Show>
    </>
  );
}

function Found({ series, explanation: e }: { series: GetTrendSeriesResponse; explanation: TrendExplanation }) {
  const points = series.observedAt.map((x, i) => ({ x, y: series.views[i] ?? 0 }));
  const name = labelOf(e);
  return (
    <>
      <PageHead title={name} lead={sortOf(e.key)} />
      <dl class="figures">
        <div><dt>{t("trends.creatorsNow")}</dt><dd class="figure">{number(e.creatorsNow)}</dd></div>
        <div><dt>{t("trends.creatorsBefore")}</dt><dd class="figure">{number(e.creatorsBefore)}</dd></div>
        <div><dt>{t("trends.strength")}</dt><dd class="figure">{number(e.strength, 1)}</dd></div>
        <div><dt>{t("trends.median")}</dt><dd class="figure">{number(e.medianGrowthMultiple, 1)}×</dd></div>
      </dl>
      <Card title={t("trends.plot")}>
        <Lines
          title={t("trends.plot")} x="time" yTitle={t("trends.views")} lines={[{ id: e.key, name, points }]}
          summary={t("trends.oneSummary", { n: points.length, from: compact(points[0]?.y ?? 0), to: compact(points.at(-1)?.y ?? 0), creators: series.creators.at(-1) ?? 0 })}
        />
      </Card>
      <Why explanation={e} />
      <Carriers explanation={e} />
    </>
  );
}

function Why({ explanation: e }: { explanation: TrendExplanation }) {
  const w = e.window;
  return (
    <Card title={t("trends.why")} aside={<Badge tone={e.outcome === "listed" ? "good" : "warn"}>{word("trend", e.outcome)}</Badge>}>
      <ol class="reckoning">
        {w && <li><h3>{t("trends.window")}</h3><p>{t("trends.windowText", { from: dateTime(w.after), until: dateTime(w.newestAt), span: age(w.span), n: w.videos, scrolls: w.completedScrolls })}</p></li>}
        <li><h3>{t("trends.creators")}</h3><p>{t("trends.creatorsText", { now: e.creatorsNow, before: e.creatorsBefore, all: w?.creatorsNow ?? 0, allBefore: w?.creatorsBefore ?? 0 })}</p></li>
        <li>
          <h3>{t("trends.strength")}</h3>
          <p>{t("trends.strengthText", { expected: number(e.expectedCreators, 2) })}</p>
          <p class="formula">{number(e.creatorsNow)}² ÷ ({number(e.expectedCreators, 4)} + 3) = <strong>{number(e.strength, 4)}</strong></p>
        </li>
        <li><h3>{t("trends.grown")}</h3><p>{t("trends.grownText", { videos: e.grownVideos, creators: e.grownCreators, median: number(e.medianGrowthMultiple, 2) })}</p></li>
        {e.overlapsKey && <li><h3>{t("trends.overlaps")}</h3><p><Link href={to("trends", e.overlapsKey)}><bdi>{labelOf({ key: e.overlapsKey })}</bdi></Link></p></li>}
      </ol>
      {e.dropped.length > 0 && (
        <details class="twin">
          <summary>{t("trends.dropped", { n: e.dropped.length })}</summary>
          <Long
            title={t("trends.droppedTitle")} rows={e.dropped} id={(one) => one.key}
            columns={[
              { title: t("trends.key"), head: true, cell: (one) => <Link href={to("trends", one.key)}><bdi>{labelOf(one)}</bdi></Link> },
              { title: t("table.why"), cell: (one) => word("trend", one.reason) },
              { title: t("trends.common"), number: true, cell: (one) => number(one.commonVideos) },
            ]}
          />
        </details>
      )}
      <p class="muted small">{t("score.method", { method: e.method })}</p>
    </Card>
  );
}

function Carriers({ explanation: e }: { explanation: TrendExplanation }) {
  const views = (video: TrendVideo, which: "first" | "last") => (video[which] ? number(video[which].views) : "–");
  const times = (video: TrendVideo) => (video.growth === "measured" && video.first && video.last ? `${number(video.last.views / Math.max(100, video.first.views), 1)}×` : word("growth", video.growth));
  const posted = (video: TrendVideo) => {
    const at = video.postedAt;
    return at === undefined ? "–" : date(at);
  };
  const ordered = [...e.videos].sort((a, b) => (b.last?.views ?? 0) - (a.last?.views ?? 0));
  return (
    <Card title={t("trends.carriers", { n: e.videos.length })}>
      <Long
        title={t("trends.carriersTitle")} rows={ordered} id={(video) => video.videoId}
        columns={[
          { title: t("table.video"), head: true, cell: (video) => <Link href={to("outliers", video.videoId)}><bdi>{nameless(video.creator ? t("trends.creatorN", { n: video.creator }) : t("trends.someone"), video.postedAt)}</bdi></Link> },
          { title: t("trends.creator"), number: true, cell: (video) => (video.creator ? number(video.creator) : "–") },
          { title: t("table.posted"), cell: (video) => <>{posted(video)} <Badge tone={video.when === "recent" ? "good" : "plain"}>{word("when", video.when)}</Badge></> },
          { title: t("trends.first"), number: true, cell: (video) => views(video, "first") },
          { title: t("trends.last"), number: true, cell: (video) => views(video, "last") },
          { title: t("trends.times"), number: true, cell: times },
        ]}
      />
    </Card>
  );
}
