// Outliers: those above their baseline in a list, and beside it all scored videos in a plot.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ListScoresResponse } from "../../gen/scrollery/v1/library_history_pb";
import { api } from "../api/client";
import { usePages, useQuery, type Query } from "../api/query";
import { number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { CreatorFilter } from "../ui/creator";
import { CheckFilter, ChoiceFilter, Filters, InputFilter, Order, dayFilter, filter, kinds, numberFilter, platforms } from "../ui/filters";
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

const names = ["q", "platform", "kind", "creator", "min", "from", "until", "archived"];

/** The orders of the list. The plot is of all that the first one lists. */
const orders = ["score", "new", "rising"] as const;

export function Outliers({ rest }: PageProps) {
  const id = rest[0];
  return id ? <VideoPage id={id} back="outliers" /> : <Overview />;
}

function Overview() {
  // The plot and the list are of the same videos: what is said over the one is true of the other.
  const wanted = {
    q: filter("q"), platform: filter("platform"), kind: filter("kind"), creator: filter("creator"), minScore: numberFilter("min"),
    postedAfter: dayFilter("from"), postedBefore: dayFilter("until", true), includeArchived: filter("archived") === "1" || undefined,
  };
  const order = orders.find((one) => one === filter("order")) ?? "score";
  const plotted = order === "score";
  const inputs = [...Object.values(wanted), order];
  const scores = useQuery(async (signal) => (plotted ? api.library.listScores(wanted, { signal }) : null), inputs, "scores");
  const list = usePages(async (pageToken, signal) => {
    const page = await api.library.listOutliers({ ...wanted, order, limit: 25, pageToken }, { signal });
    return { items: page.outliers, next: page.nextPageToken };
  }, inputs, "outliers");
  const selection = useSelection(inputs);
  const listed = list.data;
  const known = useMemo(() => new Map((listed ?? []).flatMap(({ video }) => (video ? [[video.id, nameOf(video)] as const] : []))), [listed]);
  const none = t(names.some((name) => filter(name)) ? "filter.none" : "outliers.noneText");
  // What is chosen in the list does not draw the plot again.
  const plot = useMemo(() => plotted && <Plotted scores={scores} known={known} none={none} />, [plotted, scores.data, scores.problem, scores.loading, known, none]);
  const empty = <Empty title={t("outliers.none")} text={none}>{!names.some((name) => filter(name)) && <Link class="button" href={to("scroll")}>{t("scroll.start")}</Link>}</Empty>;
  return (
    <>
      <PageHead title={t("nav.outliers")} lead={t("outliers.lead")} />
      <Filters names={names}>
        <InputFilter name="q" label={t("filter.search")} />
        <ChoiceFilter name="platform" label={t("filter.platform")} values={platforms} prefix="platform" />
        <ChoiceFilter name="kind" label={t("filter.kind")} values={kinds} prefix="kind" />
        <CreatorFilter />
        <InputFilter name="min" label={t("filter.minScore")} type="number" />
        <InputFilter name="from" label={t("filter.from")} type="date" />
        <InputFilter name="until" label={t("filter.until")} type="date" />
        <CheckFilter name="archived" label={t("filter.archived")} />
      </Filters>
      <div class={plotted && !asGrid() ? "beside" : "stack"}>
        <Card title={!plotted ? t(`outliers.${order}`) : scores.data?.outliers ? t("outliers.listed", { n: scores.data.outliers }) : t("outliers.list")} aside={<div class="row tight"><Order values={orders} /><ViewSwitch /></div>}>
          <ShowPages of={list} lines={6} empty={empty}>
            {(items) => (
              <>
                <Chosen of={selection} changed={list.reload} />
                {asGrid()
                  ? <Grid items={items.flatMap(({ video, score }) => (video ? [{ video, score, page: "outliers" as const }] : []))} selection={selection} />
                  : <ol class="ranked">{items.map((item) => <Row key={item.video?.id} outlier={item} selection={selection} rising={order === "rising"} />)}</ol>}
              </>
            )}
          </ShowPages>
        </Card>
        {plot}
      </div>
    </>
  );
}

/** The plot of what the list is chosen from, and its table. */
function Plotted({ scores, known, none }: { scores: Query<ListScoresResponse | null>; known: Map<string, string>; none: string }) {
  const [area, setArea] = useState<Area | null>(null);
  useEffect(preparePlots, []);
  const points = useMemo(() => (scores.data ? pointsOf(scores.data) : []), [scores.data]);
  const shown = useMemo(() => points.filter(inside(area)), [points, area]);
  const summary = summaryOf(shown, area ? undefined : (scores.data ?? undefined));
  useEffect(() => { if (area) announce(summary); }, [area]);
  return (
    <Card title={t("outliers.plot")} aside={area && <Button onClick={() => setArea(null)}>{t("outliers.whole")}</Button>}>
      <Show of={scores} lines={8}>
        {(read) => !read || points.length === 0 ? <Empty title={t("outliers.none")} text={none} /> : (
          <>
            <Scatter points={points} names={known} area={area} onArea={setArea} summary={summary} />
            {points.length < read.scored && <p class="muted" role="status">{t(read.outliers <= points.length ? "outliers.sample" : "outliers.sampleBest", { n: points.length, of: read.scored })}</p>}
            {read.partial && <p class="muted">{t("outliers.partial", { n: read.videos })}</p>}
            <Twin title={t("outliers.plot")} rows={shown} id={(point) => point.id} columns={columns(known)} />
          </>
        )}
      </Show>
    </Card>
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
