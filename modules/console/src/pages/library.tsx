// Library: all videos in a table, with search, filters, archive, notes and a CSV file.
import { useState } from "preact/hooks";
import type { Deletion } from "../../gen/scrollery/v1/library_deletion_pb";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { usePages } from "../api/query";
import { date, number } from "../i18n/format";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { CreatorFilter } from "../ui/creator";
import { CheckFilter, ChoiceFilter, Filters, InputFilter, dayFilter, filter, kinds, numberFilter, platforms } from "../ui/filters";
import { Grid, ViewSwitch, asGrid } from "../ui/card";
import { Badge, Button, Card, Link, PageHead } from "../ui/parts";
import { Save } from "../ui/save";
import { Choose, Chosen, useSelection } from "../ui/select";
import { Empty, ProblemView, ShowPages } from "../ui/states";
import { Table } from "../ui/table";
import { Byline, Name, nameOf } from "../ui/video";
import type { PageProps } from "./index";
import { ImportFile } from "./later";
import { saveCsv } from "./library-csv";
import { readVideos, type Entry } from "./library-read";
import { VideoPage } from "./video";
import { Delete, Deleted } from "./video-delete";
import { Annotate, useArchive } from "./video-actions";

const names = ["q", "creator", "platform", "kind", "tag", "minViews", "from", "until", "noted", "archived"];

export function Library({ rest }: PageProps) {
  const id = rest[0];
  return id ? <VideoPage id={id} back="library" /> : <Overview />;
}

function count(video: Video, name: "views" | "likes"): string {
  const value = video.metrics?.[name];
  return value === undefined ? "–" : number(value);
}

function Overview() {
  const wanted = {
    q: filter("q"), creator: filter("creator"), platform: filter("platform"), kind: filter("kind"), hashtag: filter("tag"), minViews: numberFilter("minViews"),
    postedAfter: dayFilter("from"), postedBefore: dayFilter("until", true), annotated: filter("noted") === "1" || undefined,
  };
  const archivedToo = filter("archived") === "1";
  const inputs = [...Object.values(wanted), archivedToo];
  const list = usePages((token, signal) => readVideos(wanted, archivedToo, token, signal), inputs, "library");
  const [moved, setMoved] = useState(new Map<string, boolean>());
  const [changed, setChanged] = useState(new Map<string, Video>());
  const [annotating, setAnnotating] = useState<Video | null>(null);
  const [deleting, setDeleting] = useState<Video | null>(null);
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const archive = useArchive((video, archived) => setMoved((before) => new Map(before).set(video.id, archived)));
  const selection = useSelection(inputs);
  const archived = (entry: Entry) => moved.get(entry.video.id) ?? entry.archived;
  const columns = [
    { title: t("select.title"), unseen: true, cell: ({ video }: Entry) => <Choose video={video} of={selection} /> },
    {
      title: t("table.video"), head: true, cell: (entry: Entry) => {
        const { video } = entry;
        const noted = (changed.get(video.id) ?? video).agentMetadata;
        return (
          <div class="video-cell">
            <Link class="name" href={to("library", video.id)}><Name video={video} /></Link>
            <Byline video={video} />
            {(archived(entry) || noted) && <p class="row tight">{archived(entry) && <Badge tone="warn">{t("video.archived")}</Badge>}{noted && <Badge tone="info">{t("library.noted")}</Badge>}</p>}
          </div>
        );
      },
    },
    { title: t("count.views"), number: true, cell: ({ video }: Entry) => count(video, "views") },
    { title: t("count.likes"), number: true, cell: ({ video }: Entry) => count(video, "likes") },
    { title: t("library.seen"), cell: ({ video }: Entry) => <span class="nowrap">{date(video.lastSeenAt)}</span> },
    {
      title: t("library.actions"), cell: (entry: Entry) => {
        const video = changed.get(entry.video.id) ?? entry.video;
        const name = nameOf(video).slice(0, 60);
        return (
          <div class="row tight acts">
            <Save videos={[video.id]} name={name} />
            <Button onClick={() => void archive.run(video, !archived(entry))} disabled={archive.busy} data-key="e" aria-label={`${t(archived(entry) ? "video.restore" : "video.archive")}: ${name}`}>{t(archived(entry) ? "video.restore" : "video.archive")}</Button>
            <Button kind="danger" onClick={() => setDeleting(video)} aria-label={`${t("delete.open")}: ${name}`}>{t("delete.open")}</Button>
            <Button kind="quiet" onClick={() => setAnnotating(video)} aria-label={`${t("video.annotate")}: ${name}`}>{t("video.annotate")}</Button>
          </div>
        );
      },
    },
  ];
  return (
    <>
      <PageHead title={t("nav.library")} lead={t("library.lead")} />
      <Filters names={names}>
        <InputFilter name="q" label={t("filter.search")} />
        <CreatorFilter />
        <ChoiceFilter name="platform" label={t("filter.platform")} values={platforms} prefix="platform" />
        <ChoiceFilter name="kind" label={t("filter.kind")} values={kinds} prefix="kind" />
        <InputFilter name="tag" label={t("filter.hashtag")} maxLength={100} />
        <InputFilter name="minViews" label={t("filter.minViews")} type="number" />
        <InputFilter name="from" label={t("filter.from")} type="date" />
        <InputFilter name="until" label={t("filter.until")} type="date" />
        <CheckFilter name="noted" label={t("filter.noted")} />
        <CheckFilter name="archived" label={t("filter.archived")} />
      </Filters>
      {deletion && <Deleted deletion={deletion} undone={() => { setDeletion(null); list.reload(); }} />}
      <Card>
        {archive.problem && <ProblemView problem={archive.problem} />}
        <ShowPages of={list} lines={10} empty={<Empty title={t("library.none")} text={t(names.some((name) => filter(name)) ? "filter.none" : "library.noneText")} />}>
          {(entries) => (
            <>
              <div class="row between">
                <p class="muted" role="status">{t(list.unfinished ? "library.loaded" : "library.all", { n: entries.length })}</p>
                <ViewSwitch />
                <Button onClick={() => saveCsv(entries.map((entry) => ({ video: changed.get(entry.video.id) ?? entry.video, archived: archived(entry) })), "scrollery-library.csv")}>{t("library.csv")}</Button>
              </div>
              <Chosen of={selection} changed={list.reload} />
              {asGrid() ? <Grid items={entries.map(({ video }) => ({ video, page: "library" as const }))} selection={selection} /> : <Table caption={t("nav.library")} rows={entries} id={(entry) => entry.video.id} columns={columns} />}
              <p class="muted small">{t("library.export")} <Link href={to("account")}>{t("library.exportLink")}</Link></p>
            </>
          )}
        </ShowPages>
      </Card>
      <ImportFile briefed done={list.reload} />
      {deleting && <Delete video={deleting} close={() => setDeleting(null)} done={(made) => { setDeletion(made); list.reload(); }} />}
      {annotating && <Annotate video={annotating} close={() => setAnnotating(null)} done={(video) => setChanged((before) => new Map(before).set(video.id, video))} />}
    </>
  );
}
