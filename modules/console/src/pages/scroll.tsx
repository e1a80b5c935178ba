// Scrolls: the one that runs, the schedule and the history; with an id, one scroll.
import { allow, api } from "../api/client";
import { useAction, usePages, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { dateTime, duration, relative } from "../i18n/format";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { Button, Card, Link, PageHead } from "../ui/parts";
import { Empty, ProblemView, Show, ShowPages } from "../ui/states";
import { Table } from "../ui/table";
import type { PageProps } from "./index";
import { OneScroll } from "./scroll-one";
import { StatusBadge } from "./scroll-parts";
import { ScrollForm } from "./scroll-form";

export function ScrollPage({ rest }: PageProps) {
  return rest[0] ? <OneScroll key={rest[0]} id={rest[0]} /> : <Scrolls />;
}

function Scrolls() {
  return (
    <>
      <PageHead title={t("nav.scroll")} lead={t("scroll.lead")} />
      <div class="columns">
        <Card title={t("scroll.new")}><ScrollForm /></Card>
        <Schedule />
      </div>
      <Card title={t("scroll.history")}><History /></Card>
    </>
  );
}

function Schedule() {
  const schedule = useQuery(async (signal) => (await api.scrolls.getSchedule({}, { signal })).schedule ?? null, []);
  const stop = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await api.scrolls.stopSchedule({});
    schedule.reload();
  });
  return (
    <Card title={t("schedule.title")}>
      <Show of={schedule} lines={2}>
        {(found) => !found ? <p class="muted">{t("schedule.none")}</p> : (
          <>
            <p class="figure">{t("schedule.every", { n: found.everyDays })}</p>
            <p>{t("schedule.next", { when: relative(found.nextAt), at: dateTime(found.nextAt) })}</p>
            {found.prompt && <p class="muted"><bdi>{found.prompt}</bdi></p>}
            {stop.problem && <ProblemView problem={stop.problem} />}
            <Button busy={stop.busy} onClick={() => void stop.run()}>{t("schedule.stop")}</Button>
          </>
        )}
      </Show>
    </Card>
  );
}

function History() {
  const scrolls = usePages(async (pageToken, signal) => {
    const page = await api.scrolls.listScrolls({ pageSize: 15, pageToken }, { signal });
    return { items: page.scrolls, next: page.nextPageToken };
  }, []);
  return (
    <ShowPages of={scrolls} empty={<Empty title={t("scroll.none")} text={t("scroll.noneText")} />}>
      {(items) => (
        <Table caption={t("scroll.history")} rows={items} id={(scroll) => scroll.id} columns={[
          { title: t("scroll.started"), head: true, cell: (scroll) => <Link href={to("scroll", scroll.id)}>{dateTime(scroll.startedAt ?? scroll.createdAt)}</Link> },
          { title: t("scroll.status"), cell: (scroll) => <StatusBadge scroll={scroll} /> },
          { title: t("scroll.took"), number: true, cell: (scroll) => scroll.startedAt && scroll.completedAt ? duration(scroll.completedAt - scroll.startedAt) : "–" },
          { title: t("scroll.videos"), number: true, cell: (scroll) => scroll.resultCounts?.videos ?? "–" },
          { title: t("scroll.dropped"), number: true, cell: (scroll) => scroll.progress?.dropped ?? "–" },
        ]} />
      )}
    </ShowPages>
  );
}
