// What a scroll would take and what it could not ask, before it starts.
import { useEffect, useState } from "preact/hooks";
import type { EstimateScrollResponse, QuotaEstimate, SourceEstimate } from "../../gen/scrollery/v1/scrolls_service_pb";
import { api, written } from "../api/client";
import { useQuery } from "../api/query";
import { session } from "../api/session";
import { dateTime } from "../i18n/format";
import { t, word } from "../i18n/t";
import { Badge, type Tone } from "../ui/parts";
import { Show } from "../ui/states";

/** An estimate costs a unit: it waits until the typing stops. */
const pause = 900;

/** How long an answer is kept, in milliseconds, and how many are. */
const fresh = 60_000;
const most = 20;

/** The answers by prompt. Those of another session, or from before a change, are not used. */
const kept = { of: "", answers: new Map<string, { at: number; answer: EstimateScrollResponse }>() };

async function estimateOf(prompt: string, signal: AbortSignal): Promise<EstimateScrollResponse> {
  const of = `${session.value?.keyId} ${written()}`;
  if (kept.of !== of || kept.answers.size >= most) {
    kept.of = of;
    kept.answers.clear();
  }
  const last = kept.answers.get(prompt);
  if (last && Date.now() - last.at < fresh) return last.answer;
  const answer = await api.scrolls.estimateScroll({ prompt: prompt || undefined }, { signal });
  // What stands in the way may end by itself.
  if (answer.obstacles.length === 0 && kept.of === of) kept.answers.set(prompt, { at: Date.now(), answer });
  return answer;
}

export function Estimate({ prompt }: { prompt: string }) {
  const [asked, setAsked] = useState(prompt);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prompt), pause);
    return () => clearTimeout(timer);
  }, [prompt]);
  const estimate = useQuery((signal) => estimateOf(asked, signal), [asked]);
  return (
    <section class="estimate" aria-label={t("estimate.title")} aria-busy={estimate.loading}>
      <h3>{t("estimate.title")}</h3>
      <Show of={estimate} lines={2}>{(found) => <Facts of={found} />}</Show>
    </section>
  );
}

function Facts({ of }: { of: EstimateScrollResponse }) {
  const served = of.sources.filter((one) => one.usable && (one.seeds > 0 || one.waiting > 0));
  const rest = of.sources.filter((one) => !served.includes(one));
  return (
    <>
      {of.obstacles.map((one) => <p key={one} class="notice warn">{word("obstacle", one)}</p>)}
      {of.obstacles.length > 0 && of.nextEligibleAt !== undefined && <p>{t("estimate.next", { at: dateTime(of.nextEligibleAt) })}</p>}
      <p>{t("estimate.units", { min: of.minUnits, max: of.maxUnits })} {t("estimate.left", { day: of.dailyUnitsLeft, month: of.monthlyUnitsLeft })}</p>
      <p>{t("estimate.seeds", { n: of.seeds.length })}</p>
      {served.length > 0 && <ul class="plain-list">{served.map((one) => <Served key={one.source} one={one} />)}</ul>}
      {rest.length > 0 && <p class="muted">{t("estimate.rest", { sources: rest.map((one) => one.source).join(", ") })}</p>}
      {of.notes.map((note) => <p key={note} class="muted small" lang="en">{note}</p>)}
    </>
  );
}

const short = (quota: QuotaEstimate) => quota.left < quota.needed;

function Served({ one }: { one: SourceEstimate }) {
  const [tone, state]: [Tone, string] = one.quotas.some(short) ? ["warn", t("estimate.short")] : one.seeds > 0 ? ["good", t("estimate.ready")] : ["plain", t("estimate.later")];
  return (
    <li>
      <p class="row tight"><strong>{one.source}</strong> <Badge tone={tone}>{state}</Badge></p>
      <small>
        {t("estimate.asked", { n: one.seeds })}
        {one.requests !== undefined && <> {t("estimate.requests", { n: one.requests })}</>}
        {one.waiting > 0 && <> {t("estimate.waiting", { n: one.waiting })}</>}
        {one.retryAt !== undefined && <> {t("coverage.retry", { at: dateTime(one.retryAt) })}</>}
      </small>
      {one.quotas.map((quota) => <p key={quota.name}><small>{t("estimate.quota", { name: quota.name, needed: quota.needed, left: quota.left })}</small></p>)}
    </li>
  );
}
