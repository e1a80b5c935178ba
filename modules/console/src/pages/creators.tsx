// One creator: the numbers of their videos by kind, and when they post.
import { useEffect } from "preact/hooks";
import type { Creator, CreatorKind, CreatorRhythm } from "../../gen/scrollery/v1/library_creator_pb";
import { api } from "../api/client";
import { usePages, useQuery } from "../api/query";
import { age, compact, date, number, percent, weekday } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Bars, type Bar } from "../ui/bars";
import { Back, Card, Link, PageHead } from "../ui/parts";
import { preparePlots } from "../ui/plot";
import { Empty, Show, ShowPages } from "../ui/states";
import { Table } from "../ui/table";
import { Byline, Name } from "../ui/video";
import type { PageProps } from "./index";

export function Creators({ rest: [platform = "", handle = ""] }: PageProps) {
  const named = platform !== "" && handle !== "";
  const found = useQuery(async (signal) => (named ? (await api.library.getCreator({ platform, handle }, { signal })).creator ?? null : null), [platform, handle]);
  useEffect(preparePlots, []);
  return (
    <>
      <Back href={to("library")}>{t("nav.library")}</Back>
      {found.data === undefined && <PageHead title={t("table.creator")} />}
      <Show of={found} lines={8}>
        {(creator) => creator
          ? <Found creator={creator} asked={handle} />
          : <><PageHead title={t("creator.missing")} /><Empty title={t("creator.missing")} text={t("creator.missingText")} /></>}
      </Show>
    </>
  );
}

/** A number in words, or a dash where it is unknown. */
const known = (value: number | undefined, text: (value: number) => string) => (value === undefined ? "–" : text(value));

function Found({ creator, asked }: { creator: Creator; asked: string }) {
  const name = `@${(creator.handle ?? asked).replace(/^@/, "").slice(0, 80)}`;
  const { rhythm } = creator;
  return (
    <>
      <PageHead title={name} lead={word("platform", creator.platform)} />
      <dl class="figures">
        <div><dt>{t("creator.followers")}{creator.followersAt !== undefined && `, ${date(creator.followersAt)}`}</dt><dd class="figure">{known(creator.followers, compact)}</dd></div>
        <div><dt>{t("creator.videos")}</dt><dd class="figure">{number(creator.videos)}</dd></div>
        <div><dt>{t("creator.archived")}</dt><dd class="figure">{number(creator.archived)}</dd></div>
        <div><dt>{t("creator.gap")}</dt><dd class="figure">{known(rhythm?.medianGap, age)}</dd></div>
      </dl>
      {creator.lookedAt < creator.videos && <p class="muted">{t("creator.newest", { n: creator.lookedAt })}</p>}
      <Kinds kinds={creator.kinds} />
      {rhythm && <Rhythm rhythm={rhythm} />}
      <Videos platform={creator.platform} handle={creator.handle ?? asked} />
    </>
  );
}

function Kinds({ kinds }: { kinds: CreatorKind[] }) {
  return (
    <Card title={t("creator.kinds")}>
      <Table<CreatorKind>
        caption={t("creator.kinds")} rows={kinds} id={(one) => one.kind}
        columns={[
          { title: t("table.format"), head: true, cell: (one) => word("platform", one.kind) },
          { title: t("creator.videos"), number: true, cell: (one) => number(one.videos) },
          { title: t("creator.usable"), number: true, cell: (one) => number(one.usable) },
          { title: t("nav.outliers"), number: true, cell: (one) => number(one.outliers) },
          { title: t("creator.median"), number: true, cell: (one) => known(one.medianViews, number) },
          { title: t("creator.sevenDays"), number: true, cell: (one) => known(one.sevenDayViews, number) },
          { title: t("creator.likes"), number: true, cell: (one) => known(one.likesPerMillion, (value) => percent(value / 1e6, 1)) },
        ]}
      />
    </Card>
  );
}

/** The bar that is highest; the first of several. */
const highest = (bars: Bar[]) => bars.reduce((a, b) => (b.value > a.value ? b : a));

function Rhythm({ rhythm }: { rhythm: CreatorRhythm }) {
  if (rhythm.dated === 0) return <Card title={t("creator.days")}><p class="muted">{t("creator.undated")}</p></Card>;
  const days = rhythm.weekdays.map((value, i) => ({ name: weekday(i), value }));
  const hours = rhythm.hours.map((value, i) => ({ name: String(i), value }));
  const [day, hour] = [highest(days), highest(hours)];
  const span = { first: known(rhythm.firstPostedAt, date), last: known(rhythm.lastPostedAt, date) };
  return (
    <>
      <Card title={t("creator.days")}>
        <Bars
          title={t("creator.days")} bars={days} xTitle={t("creator.day")} yTitle={t("creator.videos")}
          summary={t("creator.daysSummary", { n: rhythm.dated, ...span, day: day.name, most: day.value })}
        />
      </Card>
      <Card title={t("creator.hours")}>
        <Bars
          title={t("creator.hours")} bars={hours} xTitle={t("creator.hour")} yTitle={t("creator.videos")}
          summary={t("creator.hoursSummary", { n: hour.value, hour: hour.name })}
        />
      </Card>
    </>
  );
}

function Videos({ platform, handle }: { platform: string; handle: string }) {
  const list = usePages(async (pageToken, signal) => {
    const page = await api.library.getLibrary({ platform, creator: handle, includeArchived: true, limit: 25, pageToken }, { signal });
    return { items: page.videos, next: page.nextPageToken };
  }, [platform, handle]);
  return (
    <Card title={t("creator.list")}>
      <ShowPages of={list} lines={6} empty={<p class="muted">{t("creator.renamed")}</p>}>
        {(videos) => (
          <Table
            caption={t("creator.list")} rows={videos} id={(video) => video.id}
            columns={[
              { title: t("table.video"), head: true, cell: (video) => <div class="video-cell"><Link class="name" href={to("library", video.id)}><Name video={video} /></Link><Byline video={video} here /></div> },
              { title: t("count.views"), number: true, cell: (video) => known(video.metrics?.views, number) },
              { title: t("count.likes"), number: true, cell: (video) => known(video.metrics?.likes, number) },
            ]}
          />
        )}
      </ShowPages>
    </Card>
  );
}
