// What a text of rules does to the newest videos of the library.
import type { PreviewExample, PreviewRulesResponse } from "../../gen/scrollery/v1/rules_service_pb";
import { number, percent } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Badge, Card, Link, type Tone } from "../ui/parts";
import { Empty } from "../ui/states";
import { Table } from "../ui/table";
import { useNames } from "./names";

const bare = (line: string) => line.replace(/^[\s\-*+•–—◦]+|^\s*\d+[.)]\s+/gu, "").replace(/\s+/gu, " ").trim();

/** The lines of a text that have a rule. */
export function linesOf(text: string): string[] {
  return text.split("\n").map(bare).filter(Boolean);
}

/** A rule is a line, or a sentence of one. */
const partOf = (line: string, rule: string) => {
  const named = bare(rule);
  return named !== "" && (line.includes(named) || named.includes(line));
};

type ReadingsProps = { text: string; answer: PreviewRulesResponse | undefined; fresh: boolean };

/** A reading for each line: what it drops, or why it can drop nothing. */
export function Readings({ text, answer, fresh }: ReadingsProps) {
  const lines = linesOf(text);
  if (lines.length === 0) return <Empty title={t("rules.none")} text={t("rules.noneText")} />;
  return (
    <ol class={fresh ? "readings" : "readings stale"} aria-busy={!fresh}>
      {lines.map((line, i) => <li key={i}><Reading line={line} answer={answer} /></li>)}
    </ol>
  );
}

function Reading({ line, answer }: { line: string; answer: PreviewRulesResponse | undefined }) {
  const unclear = answer?.unclearRules.filter((one) => partOf(line, one.rule)) ?? [];
  const readings = answer?.readings.filter((one) => partOf(line, one.rule)) ?? [];
  const drops = answer?.droppedByRule.filter((one) => partOf(line, one.rule)) ?? [];
  const dropped = drops.reduce((sum, one) => sum + one.videos, 0);
  const example = answer?.examples.find((one) => one.change !== "newly_kept" && partOf(line, one.rule));
  return (
    <>
      <p class="reading-line"><bdi>{line}</bdi></p>
      {!answer ? <p class="muted">{t("rules.waiting")}</p> : (
        <p class="row tight">
          {unclear.length > 0 && <Badge tone="warn">{t("rules.unclear")}</Badge>}
          {dropped > 0 && <Badge tone="info">{t("rules.drops", { n: dropped })}</Badge>}
          {unclear.length === 0 && dropped === 0 && <Badge tone="good">{t("rules.understood")}</Badge>}
        </p>
      )}
      {readings.map((one, i) => <p key={i} class="compiled"><bdi>{one.reading}</bdi></p>)}
      {unclear.map((one, i) => <p key={i} class="why">{one.why}</p>)}
      {example && <p class="muted"><bdi>{example.reason.slice(0, 300)}</bdi></p>}
    </>
  );
}

const tones: Record<string, Tone> = { newly_dropped: "bad", newly_kept: "good", dropped: "plain" };

/** The difference against the rules in force. */
export function Effect({ answer }: { answer: PreviewRulesResponse }) {
  const names = useNames(answer.examples.map((one) => one.videoId));
  const { judged, kept, dropped, newlyDropped, newlyKept } = answer;
  return (
    <Card title={t("rules.effect")}>
      <p>{t("rules.effectText", { n: judged, kept, dropped, share: percent(judged ? kept / judged : 0) })}</p>
      <dl class="figures">
        <div><dt>{t("rules.kept")}</dt><dd class="figure">{number(kept)}</dd></div>
        <div><dt>{t("rules.dropped")}</dt><dd class="figure">{number(dropped)}</dd></div>
        <div><dt>{t("rules.newlyDropped")}</dt><dd class="figure">{newlyDropped ? `+${number(newlyDropped)}` : "0"}</dd></div>
        <div><dt>{t("rules.newlyKept")}</dt><dd class="figure">{newlyKept ? `+${number(newlyKept)}` : "0"}</dd></div>
      </dl>
      {answer.notes.map((note) => <p key={note} class="notice warn">{note}</p>)}
      {answer.examples.length > 0 && (
        <Table<PreviewExample>
          caption={t("rules.examples")} captioned rows={answer.examples} id={(one) => one.videoId}
          columns={[
            { title: t("table.video"), head: true, cell: (one) => <Link href={to("library", one.videoId)}><bdi>{names?.get(one.videoId) ?? t("rules.video", { platform: word("platform", one.platform) })}</bdi></Link> },
            { title: t("rules.change"), cell: (one) => <Badge tone={tones[one.change] ?? "plain"}>{word("verdict", one.change)}</Badge> },
            { title: t("rules.rule"), cell: (one) => <bdi>{one.rule}</bdi> },
            { title: t("table.why"), cell: (one) => <bdi class="reason">{one.reason.slice(0, 300)}</bdi> },
          ]}
        />
      )}
    </Card>
  );
}
