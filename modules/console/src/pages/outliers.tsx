// Outliers: all scored videos in a plot, and those above their baseline in a list.
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import { usePages, useQuery } from "../api/query";
import { number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { CheckFilter, ChoiceFilter, Filters, InputFilter, dayFilter, filter, kinds, numberFilter, platforms } from "../ui/filters";
import { Grid, ViewSwitch, asGrid } from "../ui/card";
import { Button, Card, Link, PageHead } from "../ui/parts";
import { Empty, Show, ShowPages } from "../ui/states";
import { Chosen, useSelection } from "../ui/select";
import { preparePlots } from "../ui/plot";
import { Twin } from "../ui/twin";
import { nameOf, nameless } from "../ui/video";
import type { PageProps } from "./index";
import { Row } from "./outliers-row";
import { Scatter, inside, pointsOf, summaryOf, type Area, type Point } from "./outliers-scatter";
import { VideoPage } from "./video";

const names = ["q", "platform", "kind", "min", "from", "until", "archived"];

export function Outliers({ rest }: PageProps) {
  const id = rest[0];
  return id ? <VideoPage id={id} back="outliers" /> : <Overview />;
}

function Overview() {
  // The plot and the list are of the same videos: what is said over the one is true of the other.
  const wanted = {
    q: filter("q"), platform: filter("platform"), kind: filter("kind"), minScore: numberFilter("min"),
    postedAfter: dayFilter("from"), postedBefore: dayFilter("until", true), includeArchived: filter("archived") === "1" || undefined,
  };
  const scores = useQuery((signal) => api.library.listScores(wanted, { signal }), Object.values(wanted));
  const list = usePages(async (pageToken, signal) => {
    const page = await api.library.listOutliers({ ...wanted, limit: 25, pageToken }, { signal });
    return { items: page.outliers, next: page.nextPageToken };
  }, Object.values(wanted));
  const selection = useSelection(Object.values(wanted));
  const [area, setArea] = useState<Area | null>(null);
  useEffect(preparePlots, []);
  const points = useMemo(() => (scores.data ? pointsOf(scores.data) : []), [scores.data]);
  const listed = list.data;
  const known = useMemo(() => new Map((listed ?? []).flatMap(({ video }) => (video ? [[video.id, nameOf(video)] as const] : []))), [listed]);
  const shown = useMemo(() => points.filter(inside(area)), [points, area]);
  const summary = summaryOf(shown, area ? undefined : scores.data);
  useEffect(() => { if (area) announce(summary); }, [area]);
  const none = t(names.some((name) => filter(name)) ? "filter.none" : "outliers.noneText");
  return (
    <>
      <PageHead title={t("nav.outliers")} lead={t("outliers.lead")} />
      <Filters names={names}>
        <InputFilter name="q" label={t("filter.search")} />
        <ChoiceFilter name="platform" label={t("filter.platform")} values={platforms} prefix="platform" />
        <ChoiceFilter name="kind" label={t("filter.kind")} values={kinds} prefix="kind" />
        <InputFilter name="min" label={t("filter.minScore")} type="number" />
        <InputFilter name="from" label={t("filter.from")} type="date" />
        <InputFilter name="until" label={t("filter.until")} type="date" />
        <CheckFilter name="archived" label={t("filter.archived")} />
      </Filters>
      <Card title={t("outliers.plot")} aside={area && <Button onClick={() => setArea(null)}>{t("outliers.whole")}</Button>}>
        <Show of={scores} lines={8}>
          {(read) => points.length === 0
            ? <Empty title={t("outliers.none")} text={none} />
            : (
              <>
                <Scatter points={points} names={known} area={area} onArea={setArea} summary={summary} />
                {points.length < read.scored && <p class="muted" role="status">{t(read.outliers <= points.length ? "outliers.sample" : "outliers.sampleBest", { n: points.length, of: read.scored })}</p>}
                {read.partial && <p class="muted">{t("outliers.partial", { n: read.videos })}</p>}
                <Twin title={t("outliers.plot")} rows={shown} id={(point) => point.id} columns={columns(known)} />
              </>
            )}
        </Show>
      </Card>
      <Card title={t("outliers.list")} aside={<ViewSwitch />}>
        <ShowPages of={list} lines={6} empty={<Empty title={t("outliers.none")} text={none} />}>
          {(items) => (
            <>
              <Chosen of={selection} />
              {asGrid()
                ? <Grid items={items.flatMap(({ video, score }) => (video ? [{ video, score, page: "outliers" as const }] : []))} selection={selection} />
                : <ol class="ranked">{items.map((item) => <Row key={item.video?.id} outlier={item} selection={selection} />)}</ol>}
            </>
          )}
        </ShowPages>
      </Card>
    </>
  );
}

const columns = (known: Map<string, string>) => [
  { title: t("table.video"), head: true, cell: (point: Point) => <Link href={to("outliers", point.id)}><bdi>{known.get(point.id)?.slice(0, 80) ?? nameless(word("platform", point.kind), point.postedAt)}</bdi></Link> },
  { title: t("table.format"), cell: (point: Point) => word("platform", point.kind) },
  { title: t("outliers.score"), number: true, cell: (point: Point) => number(point.score, 2) },
  { title: t("outliers.views"), number: true, cell: (point: Point) => number(point.views) },
  { title: t("outliers.baseline"), number: true, cell: (point: Point) => number(point.baseline) },
  { title: t("outliers.peers"), number: true, cell: (point: Point) => number(point.peers) },
];
