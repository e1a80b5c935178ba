// The report of a client over a range of dates, for reading, for paper, as a file and as a link.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useQuery } from "../api/query";
import { session } from "../api/session";
import { compact, date, number } from "../i18n/format";
import { t } from "../i18n/t";
import { query, setQuery, to } from "../shell/router";
import { dayFilter } from "../ui/filters";
import { Input } from "../ui/input";
import { Badge, Button, Card, Field, Link, PageHead, Quote } from "../ui/parts";
import { Show } from "../ui/states";
import { Byline, Name } from "../ui/video";
import { ShareForm } from "./later";
import { saveText } from "./library-csv";
import { readReport, type ReportData } from "./report-read";
import { csvOfReport, directionOf, keptText, movedText, openingOf, restsOn, ruleOf, sentencesOf } from "./report-texts";
import { labelOf, sortOf } from "../ui/trend";

const lengths = [7, 28, 90] as const;
const usual = 28;
/** No platform is older: an earlier day is a year that is being typed. */
const first = "2005";

/** A day of the person's time zone as a field for dates takes it, so many days before today. */
function dayBefore(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

export function Report() {
  const from = query.value.get("from") || dayBefore(usual - 1);
  const last = query.value.get("to") || dayBefore(0);
  const begin = dayFilter("from") ?? midnight(from);
  const range = { from: begin, until: dayFilter("to", true) ?? midnight(dayBefore(-1)) };
  const client = session.value?.name || t("clients.unnamed");
  const words = t("report.range", { from: date(range.from), to: date(range.until - 1) });
  const report = useQuery((signal) => readReport(range, signal), [from, last]);
  const shown = report.loading ? undefined : report.data;
  const save = (data: ReportData) => saveText(csvOfReport(data, client, { from, to: last }), `${t("nav.report")} ${client.replace(/[^\p{L}\p{N} ._-]/gu, "")} ${from} ${last}.csv`);
  return (
    <>
      <PageHead title={t("report.title", { name: client })} lead={words}>
        <Button disabled={!shown} onClick={() => window.print()}>{t("report.print")}</Button>
        <Button disabled={!shown} onClick={() => shown && save(shown)}>{t("collections.csv")}</Button>
      </PageHead>
      <form class="filters open" onSubmit={(event) => event.preventDefault()}>
        <Field label={t("report.from")}>{(ids) => <Input type="date" value={from} onText={(value) => value >= first && setQuery({ from: value })} {...ids} />}</Field>
        <Field label={t("report.to")}>{(ids) => <Input type="date" value={last} onText={(value) => value >= first && setQuery({ to: value })} {...ids} />}</Field>
        <div class="row tight" role="group" aria-label={t("report.lengths")}>
          {lengths.map((days) => (
            <Button key={days} kind="quiet" aria-pressed={last === dayBefore(0) && from === dayBefore(days - 1)} onClick={() => setQuery({ from: dayBefore(days - 1), to: dayBefore(0) })}>{t("report.days", { n: days })}</Button>
          ))}
        </div>
      </form>
      {range.from >= range.until
        ? <p class="notice warn" role="alert">{t("report.wrong")}</p>
        : (
          <Show of={report} lines={10}>
            {(data) => (
              <>
                <Sections data={data} />
                <Shared key={`${from} ${last}`} title={`${client}: ${words}`} data={data} range={words} />
              </>
            )}
          </Show>
        )}
    </>
  );
}

const midnight = (day: string) => new Date(`${day}T00:00`).getTime();

/** The public page of the report. Its button stands here, so that a link is one click. */
function Shared({ title, data, range }: { title: string; data: ReportData; range: string }) {
  const [turn, setTurn] = useState(0);
  return (
    <Card title={t("report.link")}>
      <ShareForm key={turn} of={{ kind: "report", title: title.slice(0, 200), sentences: sentencesOf(data, range), videoIds: restsOn(data) }} close={() => setTurn(turn + 1)} />
    </Card>
  );
}

function Sections({ data }: { data: ReportData }) {
  return (
    <>
      <Section title={t("report.trends")} lead={t("report.trendsLead")} none={t(data.early ? "trends.early" : "report.noTrends")}>
        {data.trends.map((one) => (
          <li key={one.trend.key}>
            <p class="strong"><Link href={to("trends", one.trend.key)}><bdi>{labelOf(one.trend)}</bdi></Link> <Badge>{sortOf(one.trend.key)}</Badge> <Badge tone={one.trend.direction === "rising" ? "good" : one.trend.direction === "falling" ? "warn" : "plain"}>{directionOf(one)}</Badge></p>
            <p class="muted">{t("trends.videos", { n: one.trend.metrics?.videoCount ?? 0 })}. {movedText(one)}</p>
          </li>
        ))}
      </Section>
      <Section title={t("nav.outliers")} lead={t("report.outliersLead")} none={t("report.noOutliers")}>
        {data.outliers.map(({ video, score, baselineViews, sampleCount, doubtful }) => video && (
          <li key={video.id}>
            <Link class="name" href={to("outliers", video.id)}><Name video={video} /></Link>
            <Byline video={video} />
            <p class="muted">{t("outliers.point", { score: number(score, 1), views: video.metrics?.views === undefined ? "–" : compact(video.metrics.views), baseline: baselineViews === undefined ? "–" : compact(baselineViews), n: sampleCount })}{doubtful && <> <Badge tone="warn">{t("report.doubtful")}</Badge></>}</p>
          </li>
        ))}
      </Section>
      <Section title={t("report.hooks")} lead={t("report.hooksLead")} none={t("report.noHooks")}>
        {data.hooks.map((hook) => hook.video && (
          <li key={hook.video.id}>
            {openingOf(hook) ? <Quote text={openingOf(hook)} lines={6} /> : <Name video={hook.video} />}
            <Byline video={hook.video} />
            {hook.score !== undefined && <p class="muted"><Link href={to("outliers", hook.video.id)}>{t("report.hookScore", { score: number(hook.score, 1) })}</Link></p>}
          </li>
        ))}
      </Section>
      <Section title={t("report.rules")} lead={`${keptText(data)}${data.cut ? ` ${t("report.cut", { n: data.scrolls })}` : ""}`} none={t("drops.none")}>
        {data.rules.map(({ rule, videos }) => <li key={rule}><div class="row spread"><Quote text={ruleOf(rule)} lines={6} /><span class="figure-small">{number(videos)}</span></div></li>)}
      </Section>
    </>
  );
}

function Section({ title, lead, none, children }: { title: string; lead: string; none: string; children: ComponentChildren[] }) {
  return (
    <Card title={title}>
      <p class="muted">{lead}</p>
      {children.length === 0 ? <p>{none}</p> : <ol class="findings report">{children}</ol>}
    </Card>
  );
}
