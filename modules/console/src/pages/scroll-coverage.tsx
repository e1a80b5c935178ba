// What was asked of every seed, what came, why not, and what to do.
import type { Coverage as Message } from "../../gen/scrollery/v1/scroll_pb";
import { dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { Badge, type Tone } from "../ui/parts";
import { Empty } from "../ui/states";
import { Table } from "../ui/table";

/** What the table shows of a seed. */
export type CoverageRow = Pick<Message, "seed" | "platform" | "outcome" | "asked" | "returned" | "new" | "dropped" | "trimmed" | "retryAt">;

const tones: Record<string, Tone> = { ok: "good", partial: "warn", empty: "plain", not_found: "bad", quota: "warn", blocked: "warn", misconfigured: "bad", unsupported: "plain", changed: "warn" };

/** Seeds that someone can do something about come first, those that could not be asked last. */
const order = ["misconfigured", "not_found", "changed", "blocked", "quota", "partial", "ok", "empty", "unsupported"];

/** A run with many seeds shows these first. */
const shown = 50;

export function Coverage({ rows, over }: { rows: CoverageRow[]; over: boolean }) {
  if (rows.length === 0) return <Empty title={t(over ? "coverage.none" : "coverage.soon")} />;
  const ordered = [...rows].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
  return (
    <>
      <Table caption={t("coverage.title")} rows={ordered.slice(0, shown)} id={(row) => `${row.platform} ${row.seed}`} columns={[
        { title: t("coverage.seed"), head: true, cell: (row) => <bdi class="quote" data-lines={2}>{row.seed}</bdi> },
        { title: t("coverage.platform"), cell: (row) => (row.platform ? word("platform", row.platform) : t("coverage.anywhere")) },
        { title: t("coverage.outcome"), cell: (row) => <Outcome row={row} /> },
        { title: t("coverage.asked"), number: true, cell: (row) => number(row.asked) },
        { title: t("coverage.came"), number: true, cell: (row) => number(row.returned) },
        { title: t("coverage.new"), number: true, cell: (row) => number(row.new) },
        { title: t("coverage.dropped"), number: true, cell: (row) => number(row.dropped) },
      ]} />
      {rows.length > shown && <p class="muted">{t("coverage.more", { n: rows.length - shown })}</p>}
    </>
  );
}

function Outcome({ row }: { row: CoverageRow }) {
  return (
    <div class="outcome">
      <Badge tone={tones[row.outcome] ?? "plain"}>{word("outcome", row.outcome)}</Badge>
      {row.outcome !== "ok" && <small>{word("advice", row.outcome)}</small>}
      {row.retryAt !== undefined && <small>{t("coverage.retry", { at: dateTime(row.retryAt) })}</small>}
      {row.trimmed > 0 && <small>{t("coverage.trimmed", { n: row.trimmed })}</small>}
    </div>
  );
}
