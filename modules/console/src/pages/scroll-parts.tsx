// Parts that show a scroll, on its own page and on others.
import type { Scroll } from "../../gen/scrollery/v1/scroll_pb";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Link, type Tone } from "../ui/parts";

const tones: Record<string, Tone> = { queued: "plain", running: "info", completed: "good", failed: "bad", cancelled: "warn" };

/** A completed scroll that brought next to nothing: why, and what can be changed. */
export type Poor = { why: "dropped" | "nothing" | "known"; rule?: string; seed?: string; outcome?: string; part?: number };

/** The share of what came that rules may drop before the result is doubted. */
const mostDropped = 0.8;

/** What is wrong with the result of a scroll; undefined where nothing is, or it is unknown. */
export function poorOf(scroll: Scroll): Poor | undefined {
  const { progress } = scroll;
  if (scroll.status !== "completed" || !progress) return undefined;
  const rules = [...progress.droppedByRule].sort((a, b) => b.videos - a.videos);
  if (progress.dropped > 0 && progress.dropped > mostDropped * progress.collected) {
    return { why: "dropped", rule: rules[0]?.rule, part: progress.collected };
  }
  if (scroll.resultCounts === undefined || scroll.resultCounts.videos > 0) return undefined;
  const asked = progress.coverage.filter((one) => one.outcome !== "unsupported");
  const seed = asked.find((one) => one.outcome !== "ok") ?? asked[0];
  return { why: progress.reobserved > 0 && asked.every((one) => one.outcome === "ok") ? "known" : "nothing", seed: seed?.seed, outcome: seed?.outcome };
}

export function StatusBadge({ scroll }: { scroll: Scroll }) {
  const poor = poorOf(scroll);
  return <Badge tone={poor ? "warn" : tones[scroll.status] ?? "plain"}>{poor ? t(`poor.${poor.why}`) : word("status", scroll.status)}</Badge>;
}

/** Says why a result is next to nothing, names the rule or the seed, and leads to where it is changed. */
export function PoorResult({ scroll }: { scroll: Scroll }) {
  const poor = poorOf(scroll);
  if (!poor) return null;
  const byRule = poor.why === "dropped";
  return (
    <div class="notice warn stack" role="status">
      {byRule && <p>{t("poor.droppedText", { n: scroll.progress?.dropped ?? 0, of: poor.part ?? 0 })}{poor.rule && <> {t("poor.rule")} <bdi class="strong">{poor.rule === "prompt" ? t("drops.prompt") : poor.rule}</bdi></>}</p>}
      {!byRule && <p>{t(poor.why === "known" ? "poor.knownText" : "poor.nothingText")}{poor.seed && <> {t("poor.seed")} <bdi class="strong">{poor.seed}</bdi>{poor.outcome && poor.outcome !== "ok" && <> ({word("outcome", poor.outcome)})</>}</>}</p>}
      <Link class="button" href={byRule ? to("rules") : to("brief")}>{t(byRule ? "drops.edit" : "brief.edit")}</Link>
    </div>
  );
}
