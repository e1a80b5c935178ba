// One scroll: its steps as they run, what every seed brought, what the rules dropped.
import { useEffect, useState } from "preact/hooks";
import type { Progress as ScrollProgress, Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { allow, api } from "../api/client";
import { useAction, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { ended, useScroll } from "../api/watch";
import { dateTime, duration, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Badge, Button, Card, Link, PageHead, Progress } from "../ui/parts";
import { Empty, Loading, ProblemView, Show } from "../ui/states";
import { Row } from "./outliers-row";
import { Coverage } from "./scroll-coverage";
import { Drops } from "./scroll-drops";
import { PoorResult, StatusBadge } from "./scroll-parts";

const steps = ["plan", "collect", "observe", "screen", "evidence", "archive", "score"];

/** Below this much of the work, or this much time, a pace says nothing. */
const enoughPercent = 10;
const enoughTime = 5_000;
/** Without news for this long, the pace no longer holds. */
const quiet = 30_000;

export function OneScroll({ id }: { id: string }) {
  const { scroll, missing, problem, by, reload } = useScroll(id);
  const cancel = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await api.scrolls.cancelScroll({ id });
    reload();
  });
  const title = scroll ? t("scroll.title", { when: dateTime(scroll.createdAt) }) : t("nav.scroll");
  return (
    <>
      <PageHead title={title}>
        {scroll && !ended(scroll) && <Button kind="danger" busy={cancel.busy} onClick={() => void cancel.run()}>{t("scroll.cancel")}</Button>}
        <Link class="button" href={to("scroll")}>{t("scroll.all")}</Link>
      </PageHead>
      {problem && <ProblemView problem={problem} retry={reload} />}
      {cancel.problem && <ProblemView problem={cancel.problem} />}
      {missing && <Empty title={t("problem.not_found")} />}
      {!scroll && !missing && !problem && <Loading lines={5} />}
      {scroll && <Steps scroll={scroll} by={by} />}
      {scroll?.status === "completed" && (scroll.resultCounts?.videos ?? 0) > 0 && <FirstOutliers />}
      {scroll?.progress && <Details scroll={scroll} progress={scroll.progress} />}
    </>
  );
}

function Steps({ scroll, by }: { scroll: Scroll; by: string }) {
  const over = ended(scroll);
  const percent = over && scroll.status === "completed" ? 100 : scroll.progress?.percent ?? 0;
  const at = scroll.status === "completed" ? steps.length : steps.indexOf(scroll.progress?.failure?.stage ?? scroll.stage ?? "");
  useEffect(() => {
    announce(over ? word("status", scroll.status) : scroll.stage ? t("scroll.now", { step: word("step", scroll.stage) }) : word("status", scroll.status));
  }, [scroll.status, scroll.stage]);
  return (
    <Card>
      <div class="row">
        <StatusBadge scroll={scroll} />
        {!over && <span>{t("scroll.percent", { n: Math.floor(percent) })}</span>}
        {!over && <Remaining scroll={scroll} percent={percent} />}
        {!over && by === "poll" && <Badge>{t("scroll.polled")}</Badge>}
        {over && scroll.startedAt && scroll.completedAt && <span class="muted">{t("scroll.tookText", { time: duration(scroll.completedAt - scroll.startedAt) })}</span>}
      </div>
      {!over && <Progress value={percent} label={t("scroll.progress")} />}
      <ol class="stepper">
        {steps.map((step, i) => {
          const state = i < at ? "done" : i === at ? (scroll.status === "failed" ? "failed" : over ? "stopped" : "current") : "later";
          return (
            <li key={step} class={state} aria-current={state === "current" ? "step" : undefined}>
              <span class="dot" aria-hidden="true">{state === "done" ? "✓" : state === "failed" ? "!" : i + 1}</span>
              <span>{word("step", step)}<span class="hidden"> ({t(`stepState.${state}`)})</span></span>
            </li>
          );
        })}
      </ol>
      {scroll.status === "failed" && <Failed scroll={scroll} />}
      <PoorResult scroll={scroll} />
    </Card>
  );
}

/** What remains at the present pace, or that it cannot be said. */
function Remaining({ scroll, percent }: { scroll: Scroll; percent: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (!scroll.startedAt) return <span class="muted">{t("scroll.waiting")}</span>;
  const passed = now - scroll.startedAt;
  const silent = now - scroll.updatedAt;
  if (silent > quiet) return <span class="muted">{t("scroll.quiet", { time: duration(silent) })}</span>;
  if (percent < enoughPercent || passed < enoughTime) return <span class="muted">{t("scroll.early")}</span>;
  return <span class="muted">{t("scroll.remaining", { time: duration((passed / percent) * (100 - percent)) })}</span>;
}

function Failed({ scroll }: { scroll: Scroll }) {
  const failure = scroll.progress?.failure;
  return (
    <div class="problem" role="alert">
      <p class="strong">{word("failure", scroll.failureCode ?? "internal")}</p>
      {failure?.cause && <p><bdi>{failure.cause}</bdi></p>}
      <p>{word("failureAdvice", scroll.failureCode ?? "internal")}</p>
      {failure?.plugin && <p><small>{t("scroll.failedIn", { plugin: failure.plugin, n: failure.tries ?? 1 })}</small></p>}
    </div>
  );
}

/** How many outliers a scroll leads to; the list has the others. */
const firstOutliers = 5;

function FirstOutliers() {
  const list = useQuery(async (signal) => (await api.library.listOutliers({ limit: firstOutliers }, { signal })).outliers, []);
  return (
    <Card title={t("scroll.outliers")} aside={<Link href={to("outliers")}>{t("scroll.allOutliers")}</Link>}>
      <Show of={list} lines={4}>
        {(items) => items.length === 0 ? <p class="muted">{t("scroll.noOutliers")}</p> : <ol class="ranked">{items.map((item) => <Row key={item.video?.id} outlier={item} />)}</ol>}
      </Show>
    </Card>
  );
}

function Details({ scroll, progress }: { scroll: Scroll; progress: ScrollProgress }) {
  const notes = [...progress.screenNotes, ...(progress.plan?.notes ?? [])];
  return (
    <>
      <dl class="figures">
        <div><dt>{t("scroll.collected")}</dt><dd class="figure">{number(progress.collected)}</dd></div>
        <div><dt>{t("scroll.videos")}</dt><dd class="figure">{scroll.resultCounts ? number(scroll.resultCounts.videos) : "–"}</dd></div>
        <div><dt>{t("scroll.reobserved")}</dt><dd class="figure">{number(progress.reobserved)}</dd></div>
        <div><dt>{t("scroll.dropped")}</dt><dd class="figure">{number(progress.dropped)}</dd></div>
      </dl>
      <Card title={t("coverage.title")}><Coverage rows={progress.coverage} over={ended(scroll)} /></Card>
      <Drops scroll={scroll.id} rules={progress.droppedByRule} unclear={progress.unclearRules} />
      {progress.evidence.length > 0 && (
        <Card title={t("evidence.title")}>
          <ul class="plain-list">
            {progress.evidence.map((looked) => (
              <li key={looked.stage}><code>{looked.stage}</code> <span>{t("evidence.found", { found: looked.found, asked: looked.asked })}</span> <Badge tone={looked.outcome === "ok" ? "good" : "warn"}>{word("outcome", looked.outcome)}</Badge></li>
            ))}
          </ul>
        </Card>
      )}
      {notes.length > 0 && <Card title={t("scroll.notes")}><ul class="bullets">{notes.map((note) => <li key={note}><bdi>{note}</bdi></li>)}</ul></Card>}
    </>
  );
}
