// You against them: videos of one's own on the curves of competitors at equal age, when both post, and
// what the ways to begin a video earned here.
import { useEffect, useState } from "preact/hooks";
import type { Hook, Video } from "../../gen/scrollery/v1/library_pb";
import { useQuery } from "../api/query";
import { age, number, percent, weekday } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Bars, type Bar } from "../ui/bars";
import { Lines, type Line } from "../ui/lines";
import { Card, Link, PageHead } from "../ui/parts";
import { preparePlots } from "../ui/plot";
import { Empty, Show } from "../ui/states";
import { Table } from "../ui/table";
import { Name, nameOf } from "../ui/video";
import { enough, medianOf, middleOf, viewsAt, type Middle } from "./compare-count";
import { formatOf, readCurves, readHooks, readTimes, readVideos, sides, type Both, type Curve, type Times } from "./compare-read";
import { patterns, patternsOf } from "./hooks-parts";

const day = 86_400_000;

export function Compare() {
  const videos = useQuery(readVideos, []);
  useEffect(preparePlots, []);
  return (
    <>
      <PageHead title={t("nav.compare")} lead={t("compare.lead")} />
      <Show of={videos} lines={8}>
        {(found) => (
          <>
            {found.own.length === 0 && <NoOwn />}
            {found.own.length > 0 && found.competitor.length === 0 && <Empty title={t("compare.noRivals")} text={t("compare.noRivalsText")}><Link class="button" href={to("brief")}>{t("nav.brief")}</Link></Empty>}
            {found.own.length > 0 && found.competitor.length > 0 && <Curves videos={found} />}
            {found.own.length + found.competitor.length > 0 && <><Hours videos={found} /><Patterns /></>}
          </>
        )}
      </Show>
    </>
  );
}

/** How the library learns which videos are one's own. */
function NoOwn() {
  return (
    <Empty title={t("compare.noOwn")} text={t("compare.noOwnText")}>
      <Link class="button primary" href={to("brief")}>{t("nav.brief")}</Link>
      <Link class="button" href={to()}>{t("compare.import")}</Link>
    </Empty>
  );
}

/** The formats of one's own videos, the one with the most first. */
function formatsOf(videos: Video[]): string[] {
  const counts = new Map<string, number>();
  for (const format of videos.map(formatOf)) counts.set(format, (counts.get(format) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([format]) => format);
}

function Curves({ videos }: { videos: Both<Video[]> }) {
  const formats = formatsOf(videos.own);
  const [format, setFormat] = useState(formats[0] ?? "");
  const curves = useQuery((signal) => readCurves(videos, format, signal), [videos, format]);
  return (
    <Card title={t("compare.curves")} aside={formats.length > 1 && (
      <label><span class="hidden">{t("table.format")}</span>
        <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>{formats.map((one) => <option key={one} value={one}>{word("platform", one)}</option>)}</select>
      </label>
    )}>
      <Show of={curves} lines={6}>
        {(read) => read.own.length === 0 ? <p class="muted">{t("compare.noReadings")}</p> : <Equal curves={read} />}
      </Show>
    </Card>
  );
}

/** Each own video at the age of its newest reading, beside the competitors' videos that were read before and after that age. */
function Equal({ curves }: { curves: Both<Curve[]> }) {
  const line = ({ video, points }: Curve, faint: boolean): Line => ({ id: video.id, name: nameOf(video).slice(0, 60), points, faint });
  const rows = curves.own.map(({ video, points }) => {
    const last = points.at(-1) ?? { x: 0, y: 0 };
    const theirs = curves.competitor.flatMap((one) => viewsAt(one.points, last.x) ?? []);
    return { video, last, theirs, median: medianOf(theirs), below: theirs.filter((views) => views < last.y).length };
  });
  const told = rows.filter(({ theirs }) => theirs.length >= enough);
  const ahead = told.filter(({ last, median }) => last.y > median).length;
  return (
    <>
      <Lines
        title={t("compare.curves")} x="days" yTitle={t("outliers.views")} height={360}
        lines={[...curves.own.map((one) => line(one, false)), ...curves.competitor.map((one) => line(one, true))]}
        summary={told.length === 0 ? t("compare.curvesFew", { n: enough }) : t("compare.curvesSummary", { n: ahead, of: told.length })}
      />
      <p class="muted">{t("compare.how")}</p>
      <Table caption={t("compare.equal")} captioned rows={rows} id={({ video }) => video.id} columns={[
        { title: t("table.video"), head: true, cell: ({ video }) => <Link class="name" href={to("library", video.id)}><Name video={video} /></Link> },
        { title: t("compare.age"), number: true, cell: ({ last }) => age(last.x * day) },
        { title: t("count.views"), number: true, cell: ({ last }) => number(last.y) },
        { title: t("compare.theirs"), number: true, cell: ({ theirs }) => number(theirs.length) },
        { title: t("compare.median"), number: true, cell: ({ theirs, median }) => (theirs.length < enough ? t("compare.few") : number(median)) },
        { title: t("compare.against"), number: true, cell: ({ theirs, median, last, below }) => (theirs.length < enough || median <= 0 ? "–" : t("compare.times", { times: number(last.y / median, 2), n: below, of: theirs.length })) },
      ]} />
    </>
  );
}

/** The places of the highest bar; the first of several. */
const highest = (bars: Bar[]) => bars.reduce((a, b) => (b.value > a.value ? b : a));

function Hours({ videos }: { videos: Both<Video[]> }) {
  const times = useQuery((signal) => readTimes(videos, signal), [videos]);
  const charts = (of: (times: Times) => Bar[], title: string, xTitle: string, both: Both<Times>) => (
    <Card title={title}>
      <div class="columns">
        {sides.map((side) => {
          const all = both[side];
          const name = `${title}: ${t(`compare.${side}`)}`;
          if (all.dated === 0) return <p key={side} class="muted">{t(`compare.${side}`)}: {t("creator.undated")}</p>;
          const most = highest(of(all));
          return (
            <Bars key={side} title={name} bars={of(all)} xTitle={xTitle} yTitle={t("creator.videos")}
              summary={t("compare.timesSummary", { who: t(`compare.${side}`), n: all.dated, creators: all.creators, most: most.value, at: most.name, part: percent(most.value / all.dated) })} />
          );
        })}
      </div>
    </Card>
  );
  return (
    <Show of={times} lines={6}>
      {(both) => (
        <>
          {charts(({ weekdays }) => weekdays.map((value, i) => ({ name: weekday(i), value })), t("creator.days"), t("creator.day"), both)}
          {charts(({ hours }) => hours.map((value, i) => ({ name: String(i), value })), t("creator.hours"), t("creator.hour"), both)}
        </>
      )}
    </Show>
  );
}

/** A median in words: with its interval, or that there are too few. */
function earned(values: number[]): string {
  const middle: Middle | undefined = middleOf(values);
  if (!middle) return t("compare.few");
  return t("compare.earned", { median: number(middle.median, 2), low: number(middle.low, 2), high: number(middle.high, 2), sure: percent(middle.coverage, 1) });
}

function Patterns() {
  const hooks = useQuery(readHooks, []);
  return (
    <Card title={t("compare.patterns")}>
      <p class="muted">{t("compare.patternsLead")}</p>
      <Show of={hooks} lines={5}>
        {(found) => {
          const scores = (of: Hook[]) => of.map(({ score = 0 }) => score);
          const having = (side: "own" | "competitor", pattern: (typeof patterns)[number]) => found[side].filter((hook) => patternsOf(hook).includes(pattern));
          const rows = [
            ...patterns.map((pattern) => ({ id: pattern as string, name: t(`pattern.${pattern}`), own: scores(having("own", pattern)), competitor: scores(having("competitor", pattern)) })),
            { id: "none", name: t("compare.noPattern"), own: scores(found.own.filter((hook) => patternsOf(hook).length === 0)), competitor: scores(found.competitor.filter((hook) => patternsOf(hook).length === 0)) },
          ];
          return (
            <Table caption={t("compare.patterns")} rows={rows} id={({ id }) => id} columns={[
              { title: t("hooks.pattern"), head: true, cell: ({ name }) => name },
              ...sides.flatMap((side) => [
                { title: `${t(`compare.${side}`)}: ${t("creator.videos")}`, number: true, cell: (row: (typeof rows)[number]) => number(row[side].length) },
                { title: `${t(`compare.${side}`)}: ${t("compare.score")}`, number: true, cell: (row: (typeof rows)[number]) => earned(row[side]) },
              ]),
            ]} />
          );
        }}
      </Show>
      <p class="hint">{t("compare.formula")}</p>
    </Card>
  );
}
